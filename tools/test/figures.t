#!/usr/bin/env python3
"""The figures of README.md and notes/trust.md that notes.t does not compare, with their sources.

Catches: a speed, a ratio or a number of lines in the README that its source does not have; a number
of cases, lengths or planted bugs in trust.md that is no longer so; a figure that has left the page
without leaving this list.
"""
import json
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"[\d.]+")
results = []


def ok(passed, description, note=""):
    results.append(bool(passed))
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {description}")
    if not passed and note:
        print("# " + note.replace("\n", "\n# "))


def read(path):
    return (ROOT / path).read_text()


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def same(shown, source):
    """Whether `shown` is the source's number, rounded to the digits that are shown."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - float(source)) <= 0.5001 * 10 ** -digits


def compare(description, shown, source):
    ok(source is not None and same(shown, source), f"{description}: {shown}",
       f"the source has {source}")


# ---- README: the ladder --------------------------------------------------------------------------
readme = read("README.md")
ladder = {match[1]: (match[2], match[3]) for match in re.finditer(
    r"^(\d\d)_\w+ +[\d.]+ +[\d.]+ +[\d.]+% +([\d.]+) +[\d.]+% +(?:([\d.]+)x|-)",
    read("notes/results/h200.md"), re.M)}
stages = sorted((ROOT / "stages").glob("[0-9][0-9]_*/kernel.cu"))
rows = {match[1]: cells_of(match[0]) for match in
        re.finditer(r"^\| \[(\d\d) \w+\]\(stages/.*$", readme, re.M)}
ok(sorted(rows) == [path.parent.name[:2] for path in stages], "the README lists every stage")
for path in stages:
    number = path.parent.name[:2]
    _, _, lines, speed, before = rows[number]
    measured = ladder.get(number, (None, None))
    compare(f"README, lines of {number}", lines, len(path.read_text().splitlines()))
    compare(f"README, TFLOP/s of {number}", speed, measured[0])
    if number != "01":
        compare(f"README, {number} over the stage before", before, measured[1])


# ---- README: the peers ---------------------------------------------------------------------------
RESULTS = "notes/results"


def over(peer, stage, column, path):
    """The mean or the least over all cells of one stage over a peer."""
    section = read(path).partition(f"## Stages over {peer}\n")[2].partition("\n## ")[0]
    table = [cells_of(line) for line in section.splitlines() if line.startswith("|")]
    found = [row for row in table if row[0].startswith(f"**{stage}_")]
    return NUMBER.match(found[0][table[0].index(column)].strip("*"))[0] if found else None


def over_the_fastest(stage, column, path):
    """The same over the fastest peer of each cell, from the lines of the run."""
    times = {}
    for line in read(path.replace(".md", ".jsonl")).splitlines():
        run = json.loads(line)
        if run.get("ms_median"):
            cell = times.setdefault((run["d"], run["causal"], run["seq_q"]), {})
            cell[str(run["stage"]) if run["stage"] else run["name"]] = run["ms_median"]
    ratios = [min(ms for name, ms in cell.items() if not name.isdigit()) / cell[stage]
              for cell in times.values()]
    return f"{statistics.geometric_mean(ratios) if column == 'mean' else min(ratios):.3f}"


head = cells_of(re.search(r"^\| \| over .*$", readme, re.M)[0])
peers = [cell.removeprefix("over ") for cell in head[1:]]
for line, path in [("16 persistent, fp16", "nvidia_h200"),
                   ("16 persistent, bf16", "nvidia_h200_bf16"),
                   ("11 first_maxima, fp16", "nvidia_h200"),
                   ("11 first_maxima, fp16, H100", "nvidia_h100_80gb_hbm3"),
                   ("16 persistent, fp16, H100", "nvidia_h100_80gb_hbm3"),
                   ("16 persistent, bf16, H100", "nvidia_h100_80gb_hbm3_bf16")]:
    cells, path = cells_of(re.search(rf"^\| {line} \|.*$", readme, re.M)[0]), f"{RESULTS}/{path}.md"
    for peer, pair in zip(peers, cells[1:]):
        for column, shown in zip(("mean", "least"), pair.split(", ") if pair else ()):
            compare(f"README, {line} over {peer}, {column}", shown,
                    over_the_fastest(line[:2], column, path) if peer == "the fastest" else
                    over(peer, line[:2], column, path))

table = readme.partition("| | shapes | fp16 | bf16 | H100, fp16 | bf16 |\n")[2].partition("\n\n")[0]
regimes = [cells_of(line) for line in table.splitlines()[1:]]
for column, path in enumerate(["nvidia_h200_regimes_stage16", "nvidia_h200_bf16_regimes_stage16",
                               "nvidia_h100_80gb_hbm3_regimes_stage16",
                               "nvidia_h100_80gb_hbm3_bf16_regimes_stage16"], 2):
    source = {cells[0]: cells for cells in map(cells_of, read(f"{RESULTS}/{path}.md").splitlines())
              if len(cells) > 5 and cells[0] and cells[1] == "16_persistent"}
    measured = [row for row in regimes if row[column]]
    ok(sorted(source) == sorted(row[0] for row in measured), f"README, the regimes of {path}")
    for row in measured:
        for shown, cell in zip(row[column].split(", "), source[row[0]][3:5]):
            compare(f"README, {row[0]} of {path}", shown, cell.strip("*"))


# ---- trust.md ------------------------------------------------------------------------------------
def source_of(name):
    """The harness's or the tools' file of this name, wherever it is."""
    return next(path for path in sorted(ROOT.glob(f"common/**/{name}"))).read_text()


def elements(text, array):
    return len(re.search(rf"{array}\[\] = \{{([^}}]*)\}}", text)[1].split(","))


def constant(text, name):
    return int(re.search(rf"\b{name} = (\d+)", text)[1])


grid, repeat, variants = source_of("grid.c"), source_of("repeat.c"), 8
small = elements(grid, "small_lengths")
small_grid = variants * small ** 2 + 2 * constant(grid, "LONG_SHAPES")
bugs = len(list((ROOT / "tools/ptxsim").glob("**/bugs/*.cu")))
mutants, killed = (cells_of(re.search(r"^\| all \|.*$", read("notes/results/mutants.md"), re.M)[0])
                   [i] for i in (1, 2))
trust = " ".join(read("notes/trust.md").split())


def of_code(house, column):
    """A number of the last row of the table of the mutants of `house`."""
    return cells_of(re.search(r"^\| all \|.*$", read(f"notes/results/mutants_{house}.md"), re.M)[0]
                    )[column]


for description, pattern, source in [
        ("lengths of the grid", r"all pairs of (\d+) lengths", elements(grid, "full_lengths")),
        ("combinations of heads", r"(\d+) combinations of batch and heads",
         constant(grid, "COMBINATIONS")),
        ("variants", r"batch and heads, (\d+) variants", variants),
        ("lengths without a GPU", r"\| (\d+) lengths; copies that land", small),
        ("cases of the small grid", r"small grid for every stage \((\d+) cases", small_grid),
        ("cases of repeat", r"\| (\d+) cases per stage, each 100 times",
         variants * constant(repeat, "SHAPES")),
        ("planted bugs", r"(\d+) kernels with one planted bug each", bugs),
        ("catalogue", r"make planted` \| - \| (\d+) bugs",
         len(list((ROOT / "tools/mutate/planted").glob("*.bug")))),
        ("mutants", r"make mutate` \| - \| (\d+) mistakes", mutants),
        ("mutants of the harness", r"mutants of the harness; killed \| (\d+), ",
         of_code("common", 1)),
        ("of these killed", r"mutants of the harness; killed \| \d+, (\d+)", of_code("common", 2)),
        ("mutants of the tools", r"of the tools; killed \| (\d+), ",
         of_code("tools", 1)),
        ("of these killed", r"of the tools; killed \| \d+, (\d+)", of_code("tools", 2)),
        ("survivors", r"survivors, each explained in writing; not explained \| (\d+), 0",
         int(mutants) - int(killed))]:
    found = re.search(pattern, trust)
    ok(found, f"trust.md says something of the {description}", f"nothing is like {pattern}")
    if found:
        compare(f"trust.md, {description}", found[1], source)

print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
