#!/usr/bin/env python3
"""The notes as a reader uses them: follow a link, type a command, compare a number.

Catches: a link to nowhere, a command that make does not know, an output that is no longer what the
command prints, a number that its source does not have, a stage without its chapter, a chapter
without one of its sections, a drawing that nobody shows; a number in tools/limits/machines/ that
the result it cites does not have.

What it looks at in README.md and notes/**/*.md:
  [text](path)              the file exists
  `make ...`                make knows the goals and the values (make -n) and the variables.
                            KERNEL=work/... is a file that the reader makes, and is left out
  ```console, `$ make ...`  is run; the lines below it stand in its output, in this order. A line
                            that ends with ... is compared up to there
  | row | 1 | 2 | source |  the source is a link to a file under results/ or a `make ...` that is
                            run: every number between the first cell and the last stands there,
                            in a file where it is said of the stage at the head of the column; of
                            a bench in the very cell, or the mean or the least of all, that the
                            row names (what it leaves out is as in the row above)
Counters are those of PTX, so what needs a compiler is compared only with the CUDA version that the
notes were written with. What is quoted was printed where there was no GPU, so make is shown none:
its architecture would give other machine code.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CUDA_VERSION = "13.0"
SECTIONS = ["The idea", "Picture", "Predict first", "The change", "Look", "Measure", "Why",
            "What did not help", "Pitfalls", "Questions"]
WITHOUT_COMPILER = {"trace", "diff", "help"}
COMMAND = re.compile(r"make( [A-Za-z0-9_=.,/-]+)*")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")

results = []


def ok(passed, description, note=""):
    """One line of TAP; `note` says what went wrong."""
    results.append(bool(passed))
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {description}", flush=True)
    if not passed and note:
        print("# " + note.strip().replace("\n", "\n# "), flush=True)


def skip(description, reason):
    results.append(True)
    print(f"ok {len(results)} - {description} # SKIP {reason}", flush=True)


NO_GPU = tempfile.TemporaryDirectory()
Path(NO_GPU.name, "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
Path(NO_GPU.name, "nvidia-smi").chmod(0o755)


def clean_environment():
    """Without what a make above us passes on, a choice of device or shape, or a GPU."""
    drop = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "D", "DTYPE", "CAUSAL", "DEVICE", "ARCH"}
    kept = {name: value for name, value in os.environ.items() if name not in drop}
    return {**kept, "PATH": f"{NO_GPU.name}:{os.environ['PATH']}"}


@cache
def make(*arguments):
    """Exit code, stdout and stderr of one make in the root of the repository."""
    done = subprocess.run(["make", *arguments], cwd=ROOT, env=clean_environment(), text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@cache
def cuda_version():
    text = (ROOT / "build/toolchain.mk").read_text() if make("-n", "run")[0] == 0 else ""
    return (re.findall(r"^CUDA_VERSION := (.*)", text, re.M) or ["none"])[0]


def arguments_of(command):
    return tuple(word for word in command.split()[1:] if not word.startswith("KERNEL=work/"))


def comparable(command):
    goals = {word for word in arguments_of(command) if "=" not in word}
    return bool(goals & WITHOUT_COMPILER) or cuda_version() == CUDA_VERSION


def numbers(text):
    return [number.replace(",", "") for number in NUMBER.findall(text)]


def fenced(text):
    """(language, body) of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)


def without_fences(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def check_links(page, text):
    targets = re.findall(r"\]\(([^)\s]+)\)", without_fences(text))
    files = [target.split("#")[0] for target in targets if not re.match(r"\w+:", target)]
    missing = [file for file in files if file and not (page.parent / file).exists()]
    ok(not missing, f"{page.relative_to(ROOT)}: {len(files)} links lead somewhere",
       "no such file: " + ", ".join(missing))


def commands_in(text):
    inline = re.findall(r"`(make[^`\n]*)`", without_fences(text))
    blocks = [line.removeprefix("$ ").split("#")[0].strip() for _, body in fenced(text)
              for line in body.splitlines() if re.match(r"(\$ )?make( |$)", line)]
    return dict.fromkeys(inline + blocks)


def check_commands(page, text, makefile):
    wrong = []
    for command in commands_in(text):
        if not COMMAND.fullmatch(command):
            wrong.append(f"{command}: not a command that could be typed")
            continue
        arguments = arguments_of(command)
        variables = [word.split("=")[0] for word in arguments if "=" in word]
        wrong += [f"{command}: the Makefile does not use {variable}" for variable in variables
                  if not re.search(rf"\b{variable}\b", makefile)]
        code, _, errors = make("-n", *arguments)
        if code != 0 and "needs a GPU" not in errors:
            wrong.append(f"{command}: {errors}")
    ok(not wrong, f"{page.relative_to(ROOT)}: make knows its commands", "\n".join(wrong))


def missing_lines(quoted, output):
    """The quoted lines that do not stand in the output, in this order."""
    lines, missing = iter(output.splitlines()), []
    for quote in quoted:
        start = quote.removesuffix("...").rstrip()
        whole = start == quote.rstrip()
        found = any(line.rstrip() == start if whole else line.startswith(start) for line in lines)
        if not found:
            missing.append(quote)
            lines = iter(output.splitlines())
    return missing


def check_outputs(page, text):
    for language, body in fenced(text):
        if language != "console":
            continue
        first, *quoted = body.splitlines()
        command = first.removeprefix("$ ")
        description = f"{page.relative_to(ROOT)}: {command} prints what is quoted"
        if not comparable(command):
            skip(description, f"CUDA {cuda_version()}, quoted from {CUDA_VERSION}")
            continue
        code, output, errors = make(*arguments_of(command))
        missing = missing_lines([line for line in quoted if line.strip()], output)
        ok(code == 0 and not missing, description, "\n".join(["not printed:", *missing, errors]))


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def about(column, source):
    """What the source says of the stage (two digits) that heads the column: the lines that name it,
    and its column of tables. All of it, if no stage heads the column."""
    if not re.fullmatch(r"\d\d", column):
        return source
    said, head = [], []
    for line in source.splitlines():
        cells = cells_of(line) if line.startswith("|") else []
        head = cells and (head or cells)
        said += [cell for cell, of in zip(cells[1:], head[1:]) if re.match(rf"{column}(_|$)", of)]
        if re.search(rf"\b{column}_", line):
            said.append(line)
    return "\n".join(said)


def place(label, above):
    """What a row's label says of its place in the tables of a bench; the rest is as above."""
    said = {"title": re.search(r"(TFLOP/s|bench)|FlashAttention-\d|cuDNN|FlexAttention", label),
            "d": re.search(r"(?<=\bd)\d+|(?<=\bd )\d+", label),
            "mask": re.search(r"full|causal", label),
            "seq": re.search(r"\b(512|1024|2048|4096|8192|16384)\b", label)}
    found = {**above, **{key: match[0] for key, match in said.items() if match}}
    if said["title"] and said["title"][1]:
        found["title"] = "TFLOP/s"
    found["columns"] = re.findall("mean|least", label) or [found.get("seq")]
    return found


def in_bench(column, at, source):
    """The cells of a bench that are at this place, for the stage (two digits) `column`."""
    group = f"d{at.get('d')} {at.get('mask')}"
    speeds = at.get("title") == "TFLOP/s"
    title = f"## {group}: TFLOP/s" if speeds else f"## Stages over {at.get('title')}"
    section = source.partition(title + "\n")[2].partition("\n## ")[0]
    rows = [cells_of(line) for line in section.splitlines() if line.startswith("|")]
    over_all = "mean" in at["columns"] or "least" in at["columns"]
    return " ".join(
        cell for row in rows if re.match(rf"\*\*{column}_" if over_all else f"{column}_", row[0])
        and (over_all or speeds or row[1] == group)
        for cell, of in zip(row, rows[0]) if of in at["columns"])


def said_of(column, at, source):
    """What is said in the source of the stage that heads a column, in the row with this place."""
    if re.fullmatch(r"\d\d", column) and re.search("^## Stages over ", source, re.M):
        return in_bench(column, at, source)
    return about(column, source)


def check_tables(page, text):
    head, at = [], {}
    for line in without_fences(text).splitlines():
        cells = cells_of(line)
        head = (head or cells) if line.startswith("|") else []
        link = re.fullmatch(r"\[[^]]*\]\((results/[^)]*)\)", cells[-1])
        command = re.fullmatch(r"`(make [^`]*)`", cells[-1])
        if not line.startswith("|") or not (link or command):
            continue
        description = f"{page.relative_to(ROOT)}: {cells[0]}"
        at = place(cells[0], at)
        if link:
            source = (page.parent / link[1]).read_text()
        elif comparable(command[1]):
            source = make(*arguments_of(command[1]))[1]
        else:
            skip(description, f"CUDA {cuda_version()}, counted with {CUDA_VERSION}")
            continue
        wanted = [(number, column) for cell, column in zip(cells[1:-1], head[1:-1])
                  for number in numbers(cell)]
        missing = [number for number, column in wanted
                   if number not in numbers(said_of(column, at, source) if link else source)]
        ok(wanted and not missing and len(cells) == len(head), description,
           f"not in {cells[-1]}: {', '.join(missing)}")


def check_chapter(stage, page):
    """Title, sections and questions of the chapter of one stage."""
    number, name = stage.split("_", 1)
    if not page.exists():
        ok(False, f"{stage} has a chapter", f"{page.relative_to(ROOT)} is missing")
        return
    text = page.read_text()
    headings = re.findall(r"^## (.*)", without_fences(text), re.M)
    ok(text.startswith(f"# {number} {name}\n") and headings == SECTIONS,
       f"{stage} has a chapter with all its sections", f"found: {', '.join(headings)}")
    parts = dict(zip(headings, re.split(r"^## .*", text, flags=re.M)[1:]))
    questions = re.findall(r"^\d\. ", parts.get("Questions", ""), re.M)
    answers = re.findall(r"^<details>.*?^</details>", parts.get("Questions", ""), re.M | re.S)
    ok(3 <= len(questions) <= 5 and len(answers) == len(questions),
       f"{stage}: three to five questions, each with an answer",
       f"{len(questions)} questions, {len(answers)} answers")
    ok("<details>" in parts.get("Predict first", ""), f"{stage}: the prediction has an answer")


def check_machine(machine):
    """What cites a result, of the numbers of a GPU that `make limits` takes, stands in it."""
    cited = re.findall(r"^(\S+ (\S+)) \|.*\b(notes/results/[\w.]*\w)", machine.read_text(), re.M)
    missing = [f"{line} is not in {file}" for line, number, file in cited
               if number not in numbers((ROOT / file).read_text())]
    ok(not missing, f"{machine.relative_to(ROOT)}: {len(cited)} numbers stand in results",
       "\n".join(missing))


pages = [ROOT / "README.md", *sorted((ROOT / "notes").rglob("*.md"))]
texts = {page: page.read_text() for page in pages}
makefiles = [ROOT / "Makefile", *sorted((ROOT / "tools/make").glob("*.mk"))]
makefile_text = "".join(path.read_text() for path in makefiles)
for page, text in texts.items():
    check_links(page, text)
    check_commands(page, text, makefile_text)
    check_outputs(page, text)
    check_tables(page, text)

stages = sorted(path.parent.name for path in (ROOT / "stages").glob("[0-9][0-9]_*/kernel.cu"))
for stage in stages:
    check_chapter(stage, ROOT / "notes" / f"{stage}.md")
chapters = [page.stem for page in pages if re.match(r"(?!00)\d\d_", page.name)]
ok(set(chapters) <= set(stages), "every chapter has its stage",
   ", ".join(sorted(set(chapters) - set(stages))))
for drawing in sorted((ROOT / "notes/img").glob("*.svg")):
    shown = any(f"img/{drawing.name})" in text for text in texts.values())
    try:
        xml.etree.ElementTree.parse(drawing)
        note = "no page shows it"
    except xml.etree.ElementTree.ParseError as error:
        shown, note = False, str(error)
    ok(shown, f"notes/img/{drawing.name} is well-formed and shown", note)
for machine in sorted((ROOT / "tools/limits/machines").glob("*.txt")):
    check_machine(machine)

print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
