#!/usr/bin/env python3
"""The record of a block (tools/ptxsim/report) against the counters of the run, for every stage: its
steps and requests, added up here, are the counters of the block to the unit, and the blocks of a
launch together are those that the harness prints.

Catches: a step or a request that is missing or recorded twice, a footprint with the wrong cost,
wavefronts or sectors that do not add up, a record that takes too long.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from math import prod
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = "build/attention-sim"
FIELDS = "executions lanes divergent requests units ideal second second_ideal".split()
# The harness's counters, by the classes of the instructions.
MEMORY = {
    "global load": "global_load", "cp.async": "global_load", "bulk load (TMA)": "global_load",
    "global store": "global_store", "bulk store (TMA)": "global_store",
    "shared load": "shared_load", "ldmatrix": "shared_load",
    "shared store": "shared_store", "stmatrix": "shared_store",
}
results = []


def ok(passed, description, wrong=()):
    results.append(bool(passed))
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {description}", flush=True)
    if not passed:
        print("".join(f"# {line}\n" for line in wrong[:10]), end="")


def run_stage(folder, record, block="", **variables):
    """What the harness printed of a run, and the record if a block is given."""
    record.unlink(missing_ok=True)
    done = subprocess.run(
        [PROGRAM, "run", "DEVICE=sim", "FORMAT=json", *(f"{k}={v}" for k, v in variables.items()),
         folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
        env={**os.environ, "SIM_RECORD": str(record) if block != "" else "",
             "SIM_BLOCK": str(block)})
    run = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    return run, json.loads(record.read_text()) if record.exists() else None


def lanes_of(mask):
    """The lanes whose bits are set."""
    return [lane for lane in range(32) if mask >> lane & 1]


def add_up(launch):
    """The counters of each instruction, from the steps and requests of one block."""
    sums = [[0] * len(FIELDS) for _ in launch["ops"]]
    copies = {number for number, (_, kind, *_) in enumerate(launch["ops"])
              if launch["classes"][kind] == "cp.async"}
    for number, warp in enumerate(launch["warps"]):
        op = []
        for first, steps, mask, _ in zip(*[iter(warp["runs"])] * 4):
            op += range(first, first + steps)
            lanes = len(lanes_of(mask))
            for at in range(first, first + steps):
                sums[at][0] += 1
                sums[at][1] += lanes
        assert len(op) == warp["steps"], f"a warp has {warp['steps']} steps, its runs {len(op)}"
        for step in warp["divergent"]:
            sums[op[step]][2] += 1
        step = 0
        for later, footprint, base in zip(*[iter(warp["requests"])] * 3):
            step += later
            place = launch["footprints"][footprint]
            if place["space"] == "lanes":
                continue
            shared = place["space"] == "shared"
            assert not shared or place["bank"][lanes_of(place["mask"])[0]] == base // 4 % 32, \
                f"the bank of the first lane is not that of address {base}"
            second = shared and op[step] in copies
            of_op = sums[op[step]]
            of_op[3] += not second
            of_op[6 if second else 4] += place.get("units") or 0
            of_op[7 if second else 5] += place.get("ideal") or 0
        for transfer in launch["transfers"]:
            if transfer["warp"] == number:
                of_op = sums[op[transfer["step"]]]
                of_op[3] += 1
                of_op[4] += transfer["units"]
                of_op[5] += transfer["ideal"]
    return sums


def differences(launch, sums):
    """Where the sums are not the block's counters."""
    return [f"{op[0]}: {field} {have}, counted {want}"
            for op, got, counted in zip(launch["ops"], sums, launch["counters"])
            for field, have, want in zip(FIELDS, got, counted) if have != want]


def bad_footprints(launch):
    """Wavefronts and sectors of each footprint, counted by what the lanes have."""
    wrong = []
    for place in launch["footprints"]:
        if place["space"] not in ("shared", "global"):
            continue
        unit = "wavefront" if place["space"] == "shared" else "sector"
        lanes = lanes_of(place["mask"])
        units = {place[unit][lane] for lane in lanes}
        if len(units) != place["units"]:
            wrong.append(f"{place['units']} units, the lanes have {len(units)}")
        if unit == "wavefront":
            word_of = {}  # of a wavefront and a bank
            for lane in lanes:
                word = (place["distance"][lane] + 4 * place["bank"][0]) // 4
                bank = place["bank"][lane]
                if word_of.setdefault((place[unit][lane], bank), word) != word:
                    wrong.append(f"two words of bank {bank} in one wavefront")
    return wrong


def add_to_totals(total, launch, sums):
    for op, got in zip(launch["ops"], sums):
        kind = launch["classes"][op[1]]
        total["warp_instructions"] += got[0]
        total["lane_instructions"] += got[1]
        total["divergent_branches"] += got[2]
        if kind in ("mma", "wgmma"):
            total["mma_instructions"] += got[0]
        if kind == "barrier":
            total["barriers"] += got[0]
        if kind in MEMORY:
            for name, count in zip(("requests", "units", "ideal_units"), got[3:6]):
                total[f"{MEMORY[kind]}_{name}"] += count


def check_stage(folder, record, variant, **variables):
    total, wrong, footprints = Counter(), [], []
    run, _ = run_stage(folder, record, **variables)
    blocks, block = 1, 0
    while block < blocks:
        _, recorded = run_stage(folder, record, block, **variables)
        if not recorded:
            wrong.append(f"block {block} was not recorded")
        for launch in recorded["launches"] if recorded else []:
            of_launch = prod(launch["grid"])
            blocks = max(blocks, of_launch)
            total["blocks"] += block < of_launch
            sums = add_up(launch)
            wrong += differences(launch, sums)
            footprints += bad_footprints(launch)
            add_to_totals(total, launch, sums)
        block += 1
    name = f"{os.path.basename(folder)} {variant}"
    ok(not wrong, f"{name}: the steps of a block are its counters", wrong)
    ok(not footprints, f"{name}: wavefronts and sectors are what the lanes need", footprints)
    counted = run.get("counters") or {}
    unlike = [f"{key}: recorded {total[key]}, counted {value}"
              for key, value in sorted(counted.items()) if total[key] != value]
    if not counted:
        unlike.append("the harness printed no counters")
    ok(not unlike, f"{name}: its {blocks} blocks are the counters of the run", unlike)


def seconds(folder, record):
    """The processor's seconds of a run."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = spent()
    subprocess.run([PROGRAM, "run", "DEVICE=sim", "H=1", "N=512", folder], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "SIM_RECORD": str(record)})
    return spent() - before


def check_cost(folders, record):
    """In turn, the best of three, or of up to fifteen: other tests run beside this one."""
    plain, recorded = ({folder: float("inf") for folder in folders} for _ in range(2))
    for taken in range(15):
        for folder in folders:
            plain[folder] = min(plain[folder], seconds(folder, ""))
            recorded[folder] = min(recorded[folder], seconds(folder, record))
        ratio = sum(recorded.values()) / sum(plain.values())
        if taken >= 2 and ratio < 1.6:
            break
    ok(ratio < 1.6, f"a run with a record takes {ratio:.2f} times one without")


def main():
    os.chdir(ROOT)
    given = os.environ.get("STAGE_DIRS", "").split()
    folders = [folder for folder in given or
               sorted(map(str, [*Path("build/sm_80").glob("[01][0-9]_*"),
                                *Path("build/sm_90a").glob("1[0-9]_*")]))
               if os.path.exists(f"{folder}/d128_fp16_full.so") and
               os.path.exists(f"stages/{os.path.basename(folder)}/kernel.cu")]
    if not os.access(PROGRAM, os.X_OK) or not folders:
        print(f"1..0 # SKIP needs {PROGRAM} and the kernels that make builds")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "record.json"
        for folder in folders:
            queries, keys = (4, 130) if re.match("0[123]_", os.path.basename(folder)) else (72, 200)
            sizes = {"B": 1, "H": 1, "HKV": 1, "N": queries, "NKV": keys}
            check_stage(folder, record, "d128_fp16_full", **sizes)
            if os.path.exists(f"{folder}/d64_bf16_causal.so"):
                check_stage(folder, record, "d64_bf16_causal", **sizes, D=64, DTYPE="bf16",
                            CAUSAL=1)
        timed = [folder for folder in folders
                 if re.match("(04|06|09|15)_", os.path.basename(folder))]
        if timed:
            check_cost(timed, record)
    print(f"1..{len(results)}")
    return not all(results)


sys.exit(main())
