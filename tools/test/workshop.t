#!/usr/bin/env python3
"""The notebook for a hosted machine, notes/workshop.ipynb: its shell cells, in order, each in a
shell of its own as a notebook runs them, in a fresh clone of what is here.

Catches: a command that has changed its name or fails, a grade that is not full, an answer that the
text gives and the counters do not, Python of ours in a cell, outputs that were committed. The
clone has no programs; the tool-chain's description, the object files of the programs and the
stages' kernels are copied to it: that they compile, the run of the tests has shown."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
results = []


def ok(condition, name, note=""):
    results.append(bool(condition))
    print(f"{'ok' if condition else 'not ok'} {len(results)} - {name}", flush=True)
    if not condition:
        print("".join(f"# {line}\n" for line in note.splitlines()[-30:]), end="")


def sources():
    """What is tracked or new here; of a tree without .git all that no command has made."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        return filter(None, listed.stdout.decode().split("\0"))
    made = [ROOT / "build", ROOT / "work"]
    return [path.relative_to(ROOT) for path in ROOT.rglob("*")
            if not any(folder in path.parents for folder in made)]


def clone(folder):
    """That as a repository at folder, whatever the user's git does with a commit."""
    for name in sources():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a clone"]):
        subprocess.run([*git, *arguments], check=True,
                       env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})


def shell(text, folder, repository):
    keep = {name: value for name, value in os.environ.items()
            if not name.startswith(("MAKE", "MFLAGS", "STAGE_DIRS", "SIGNED"))}
    done = subprocess.run(["bash"], input=text, cwd=folder, text=True, check=False,
                          env={**keep, "REPOSITORY": str(repository)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def provision(folder):
    """The tool-chain as it was found here, so that nothing is fetched twice, the object files and
    the kernels, all of one time: later than the sources of the clone."""
    build = folder / "flash/build"
    kernels = (ROOT / "build").glob("sm_*/[01][0-9]_*/d128_fp16_full.so")
    for name in ("toolchain.mk", "simulator.mk", "disassembler.mk", "flags", "host", *kernels):
        for source in [ROOT / "build" / name, *(ROOT / "build" / name).rglob("*")]:
            if source.is_file():
                copy = build / source.relative_to(ROOT / "build")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
    now = time.time()
    for copy in build.rglob("*"):
        os.utime(copy, (now, now))


def main():
    notebook = json.loads((ROOT / "notes/workshop.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    texts = ["".join(cell["source"]) for cell in cells]
    ok(len(texts) >= 5 and all(text.startswith("%%bash\n") for text in texts),
       "its code cells are shell cells")
    ok(not any(cell["outputs"] or cell["execution_count"] for cell in cells), "without outputs")
    prose = "".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")
    outputs = []
    with tempfile.TemporaryDirectory() as name:
        folder, repository = Path(name), Path(name) / "repository"
        clone(repository)
        for number, text in enumerate(texts, 1):
            text = text.removeprefix("%%bash\n")
            if number == 1:  # the clone, before the programs that it builds
                first, text = text.split("\n", 1)
                code, output = shell(first, folder, repository)
                ok(code == 0, "cell 1 clones", output)
                provision(folder)
            code, output = shell(text, folder, repository)
            outputs.append(output)
            ok(code == 0, f"cell {number} succeeds: {text.splitlines()[0]}", output)
    ok(outputs and outputs[0].count("PASS") == len(list((ROOT / "stages").glob("[0-9]*"))),
       "all stages pass", outputs[0])
    counted = [line.split()[6] for line in outputs[1].splitlines() if line.endswith("PASS")]
    answer = re.search(r"The answer is ([\d.]+) and ([\d.]+):", prose)
    ok(answer and counted == list(answer.groups()), "the answer is what is counted",
       outputs[1])
    ok("load_floats" in outputs[3], "the annotated lines are shown", outputs[3])
    ok(outputs[-1].endswith("all holds\n"), "the exercise has its full grade",
       outputs[-1])
    print(f"1..{len(results)}")
    return not all(results)


sys.exit(main())
