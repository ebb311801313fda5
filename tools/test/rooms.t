#!/usr/bin/env python3
"""The house: what is in which folder, and who includes whom (README, "Where things are").

Catches: an include of a room above, files that include each other in a circle, a folder that grows
without a reason, two files with one name, the harness naming a variable of the simulator. Each
check is also shown a small tree with the mistake that it is for.

A .c file and its header count as one. A folder with more than a dozen files says why in its
README.md, in a line that begins with "More than a dozen files: "."""
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TREES = ["common", "notes", "reference", "stages", "tools"]

# The rooms from below: a file includes files of its own room and of those before it. Those of a
# tool also include what COMMON has of the harness, and nothing of another tool. A tool that is not
# here has one room.
ROOMS = {
    "common": ["base", "truth", "device", "cli"],
    "tools/ptxsim": ["machine/memory", "ptx", "decode", "machine", "ops", "report", "cuda"],
    "tools/sass": ["analysis", "limits", "replay", "commands"],
}
COMMON = ["", "base", "device"]
MOST = 12  # files in a folder
# Files of one name on purpose: each folder has its own.
SAME = {"README.md", "kernel.cu", "expect.sass", "timeline.marks", "main.c", "__init__.py",
        "METADATA"}
DATA = {"corpus", "golden"}  # folders of data, where any name goes

results = []


def ok(condition, name, notes=()):
    results.append(bool(condition))
    print(f"{'ok' if condition else 'not ok'} {len(results)} - {name}")
    if not condition:
        print("".join(f"# {note}\n" for note in notes), end="")


def files_of(root, tree):
    """The files below a folder, as paths from the root."""
    for folder, folders, names in os.walk(root / tree):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(names):
            if not name.endswith(".pyc"):
                yield (Path(folder) / name).relative_to(root)


def houses(root):
    """The folders that have rooms."""
    return ["common", *(str(path.relative_to(root)) for path in sorted(root.glob("tools/*")))]


def sources(root):
    """The C files of the rooms: path, house and room ("" beside the rooms, None in a test/)."""
    for house in houses(root):
        for path in files_of(root, house):
            if path.suffix in (".c", ".h"):
                room = str(path.parent.relative_to(house)).replace(".", "")
                yield path, house, None if "test" in path.parts else room


def includes(root, path, house):
    """What a file includes of ours: house and path, the house None where there is no such file."""
    for name in re.findall(r'^#include "([^"]+)"', (root / path).read_text(), re.M):
        found = [h for h in (house, "common") if (root / h / name).is_file()]
        yield (found[0], Path(found[0]) / name) if found else (None, Path(name))


def upwards(root):
    """Includes that do not run downwards, or name no room."""
    wrong = []
    for path, house, room in sources(root):
        if room and room not in ROOMS.get(house, []):
            wrong.append(f"{path} is in a room that has no place among the others: ROOMS here")
            continue
        for other, target in includes(root, path, house):
            if other is None:
                wrong.append(f"{path} includes {target}: name it from its house (truth/rows.h)")
                continue
            there = str(target.parent.relative_to(other)).replace(".", "")
            if room is None:
                continue
            if other != house:
                allowed = COMMON
            else:  # beside the rooms is the program's own file, above them all
                rooms = ROOMS.get(house, [])
                allowed = ["", *(rooms[:rooms.index(room) + 1] if room in rooms else rooms)]
            if there not in allowed:
                wrong.append(f"{path} includes {target}, which is above it")
    return wrong


def circles(root):
    """Circles among the files, a .c file and its header being one."""
    edges = {}
    for path, house, room in sources(root):
        if room is not None:
            node = path.with_suffix("")
            targets = {target.with_suffix("") for _, target in includes(root, path, house)}
            edges.setdefault(node, set()).update(targets - {node})
    found, done = [], set()

    def visit(node, trail):
        if node in trail:
            found.append(" -> ".join(map(str, trail[trail.index(node):] + [node])))
        elif node not in done:
            for target in sorted(edges.get(node, ())):
                visit(target, trail + [node])
            done.add(node)

    for node in sorted(edges):
        visit(node, [])
    return found


def crowded(root):
    """Folders with more than a dozen files and no reason in their README.md."""
    folders = {}
    for tree in TREES:
        for path in files_of(root, tree):
            own = path.with_suffix("") if path.suffix in (".c", ".h") else path
            if path.name != "README.md":
                folders.setdefault(path.parent, set()).add(own)
    wrong = []
    for folder, files in sorted(folders.items()):
        readme = root / folder / "README.md"
        text = readme.read_text() if readme.is_file() else ""
        if len(files) > MOST and not re.search(r"^More than a dozen files: \S", text, re.M):
            wrong.append(f"{folder} has {len(files)} files, and no README.md that says why")
    return wrong


def namesakes(root):
    """Files of one name, or of names that differ only by an s at the end."""
    paths = [path for tree in TREES for path in files_of(root, tree)
             if path.name not in SAME and not DATA & set(path.parts)]
    seen, wrong = {}, []
    for path in paths:
        other = seen.setdefault(path.name, path)
        if other != path:
            wrong.append(f"{other} and {path} share a name")
    for path in paths:
        other = seen.get(path.stem + "s" + path.suffix)
        if other:
            wrong.append(f"{path} and {other} differ only by an s")
    return wrong


def simulator_variables(root):
    """Where the harness names a variable of the simulator."""
    return [f"{path} names {name}" for path, house, room in sources(root)
            if house == "common" and room is not None
            for name in sorted(set(re.findall(r"\bSIM_[A-Z]+", (root / path).read_text())))]


def planted(check, expected, files):
    """The check finds the mistake in a tree of these files, and nothing in one without it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = check(Path(folder))
    ok(len(found) == bool(expected) and all(expected in one for one in found),
       f"planted: {check.__name__} says {expected or 'nothing'}", found or ["nothing was found"])


for check, name in ((upwards, "includes run downwards"),
                    (circles, "no files include each other in a circle"),
                    (crowded, f"no folder has more than {MOST} files without a reason"),
                    (namesakes, "no two files share a name, or differ only by an s"),
                    (simulator_variables, "the harness names no variable of the simulator")):
    found = check(ROOT)
    ok(not found, name, found)

rows, oracle = "common/truth/rows", "common/truth/oracle"
dozen = {f"tools/x/{number}.sh": "" for number in range(MOST)}
planted(upwards, "", {f"{rows}.h": '#include "base/error.h"\n', "common/base/error.h": ""})
planted(upwards, "above it", {f"{rows}.h": '#include "cli/run.h"\n', "common/cli/run.h": ""})
planted(upwards, "above it", {"tools/ptxsim/ptx/lexer.c": '#include "decode/cfg.h"\n',
                              "tools/ptxsim/decode/cfg.h": ""})
planted(upwards, "above it", {"tools/new/a.c": '#include "cli/run.h"\n', "common/cli/run.h": ""})
planted(upwards, "above it", {"tools/sass/analysis/a.c": '#include "cli/run.h"\n',
                              "common/cli/run.h": ""})
planted(upwards, "no place", {"tools/ptxsim/new/a.c": ""})
planted(upwards, "from its house", {f"{rows}.c": '#include "rows.h"\n', f"{rows}.h": ""})
planted(circles, "", {f"{rows}.h": '#include "truth/oracle.h"\n', f"{rows}.c": "",
                      f"{oracle}.h": ""})
planted(circles, "->", {f"{rows}.h": '#include "truth/oracle.h"\n', f"{oracle}.h": "",
                        f"{oracle}.c": '#include "truth/rows.h"\n'})
planted(crowded, "", dozen)
planted(crowded, f"{MOST + 1} files", {**dozen, "tools/x/one.c": "", "tools/x/one.h": ""})
planted(crowded, "", {**dozen, "tools/x/one.c": "",
                      "tools/x/README.md": "More than a dozen files: one per command.\n"})
planted(namesakes, "", {"tools/x/run.c": "", "common/cli/run.h": "", "tools/x/runs.sh": ""})
planted(namesakes, "share a name", {"tools/x/run.c": "", "common/cli/run.c": ""})
planted(namesakes, "by an s", {"tools/x/count.c": "", "tools/y/counts.c": ""})
planted(simulator_variables, "SIM_RACE", {f"{rows}.c": 'getenv("SIM_RACE")'})

print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
