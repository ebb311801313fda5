#!/usr/bin/env python3
"""What `make trace` prints. Catches: a last tile that differs from the three passes, a bad value
that does not end with 64 and a sentence."""
import pathlib
import re
import subprocess
import sys

from tap import ok

TRACE = pathlib.Path(__file__).parent.parent / "trace.py"


def trace(*arguments):
    return subprocess.run([sys.executable, TRACE, *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.\d+", text)]


for arguments in ([], ["N=4", "D=2"], ["N=5", "D=3", "BC=2"], ["N=6", "CAUSAL=1", "SEED=7"],
                  ["N=1", "D=1"]):
    result = trace(*arguments)
    lines = result.stdout.splitlines()
    online = [numbers(line) for line in lines if line.startswith("  online")]
    passes = [numbers(line) for line in lines if line.startswith("  three-pass")]
    N = int(dict(a.split("=") for a in ["N=4", *arguments])["N"])
    ok(result.returncode == 0 and len(online) == len(passes) == N, f"{arguments}: {N} rows")
    ok(online and online == passes, f"{arguments}: online equals three passes", result.stdout)
    tiles = [numbers(line)[-1] for line in lines if re.match(r" +\d+  ", line)]
    ok(len(tiles) >= N and any(tiles), f"{arguments}: a line for each tile")

closed = subprocess.run(["bash", "-c", '"$@" >&-', "closed", sys.executable, TRACE], text=True,
                        stderr=subprocess.PIPE)
ok(closed.returncode == 1 and "the output cannot be written" in closed.stderr,
   "a closed stdout exits with 1", closed.stderr)
with open("/dev/full", "w") as disk:
    full = subprocess.run([sys.executable, TRACE], text=True, stdout=disk, stderr=subprocess.PIPE)
ok(full.returncode == 1 and "the output cannot be written" in full.stderr,
   "a full disk exits with 1", full.stderr)
many = trace("SEED=" + 5000 * "7")
ok(many.returncode == 64 and many.stderr.startswith("trace: SEED must be a whole number from 0 to")
   and len(many.stderr) < 200, "thousands of digits get the same sentence", many.stderr)
ok(trace("SEED=" + 5000 * "0" + "7").stdout == trace("SEED=7").stdout, "and of zeros say nothing")

for bad, words in (("N=0", "N must be"), ("N=x", "N must be"), ("D=99", "D must be"),
                   ("BC=", "BC must be"), ("CAUSAL=2", "CAUSAL must be"), ("X=1", "there is no X")):
    result = trace(bad)
    ok(result.returncode == 64, f"{bad} exits with 64")
    ok(words in result.stderr and not result.stdout, f"and says: {words}", result.stderr)
