#!/usr/bin/env python3
"""reference/peers.py on a fake PyTorch (fake_torch/) and the harness's fake stages.

Catches: a key of the JSON lines that differs from the harness's, a wrong or unwritten element that
passes, inputs that are not those that the truth is of, an input left out, the slower of two layouts
reported, a peer that is missing and fells the others, a peer asked for a mask that it aligns
elsewhere, heads of a group that read the wrong KV head, a wrong FLOP or byte count, a repetition
kept for which the GPU had to wait, a sustained run that is too short or lacks its times, a bad
value without a sentence.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tap import ok

ROOT = pathlib.Path(__file__).parent.parent.parent
COMMON = ROOT / "common"
folder = tempfile.TemporaryDirectory()
work = pathlib.Path(folder.name)
STAGES = ["01_none", "02_element", "03_nan", "07_head", "09_later", "11_launch", "12_unsupported",
          "13_workspace"]
KEYS = """stage name device simulated dtype causal batch heads kv_heads seq_q seq_kv d regime init
strength status reason max_error tolerance rms_error checked_rows ms_median ms_min
host_us tflops gb_s hbm_share sustained began ended registers threads shared_bytes spill_bytes
counters""".split()
# The program on few tokens: a square cell has 64, the lengths of others are cut.
PROGRAM = """
import peers
whole = peers.choose_cells
def small(shape):
    p = shape.problem
    if shape.regime == b"square":
        p.batch //= 256
        shape.flops, shape.bytes = shape.flops / 256, shape.bytes / 256
    else:
        p.batch = 1
        p.seq_q, p.seq_kv = (p.seq_q + 15) // 16 % 20, p.seq_kv // 16 % 50
    return shape
peers.choose_cells = lambda arguments: [small(shape) for shape in whole(arguments)]
peers.main()
"""


def compile_shared(output, *arguments):
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O3", "-fPIC", "-shared",
         f"-I{COMMON}",
         "-isystem", os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include"),
         *map(str, arguments), "-lm", "-o", str(output)], check=True)


def build():
    compile_shared(work / "runtime.so", COMMON / "test/fake_runtime.c",
                   COMMON / "base/element.c")
    for stage in STAGES:
        (work / stage).mkdir()
        for causal in 0, 1:
            mask = "causal" if causal else "full"
            compile_shared(work / stage / f"d128_fp16_{mask}.so", f"-DBUG=BUG_{stage[3:].upper()}",
                           "-DHEAD_DIM=128", "-DELEMENT_BF16=0", f"-DCAUSAL={causal}",
                           COMMON / "test/fake_stage.c")


def peers(*arguments, **environment):
    """Runs the program; its exit code, objects and stderr."""
    path = f"{ROOT}/reference:{ROOT}/reference/test/fake_torch:{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1",
             "OPENBLAS_NUM_THREADS": "1", "CUDART": str(work / "runtime.so"),
             "TRUTH": str(ROOT / os.environ.get("TRUTH", "build/libtruth.so")), **environment})
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, lines, done.stderr


def regimes():
    code, lines, stderr = peers("REGIME=chunk", "REPS=3", "D=128", "CAUSAL=1", "01_none")
    names = {name: [line for line in lines[1:] if line["name"] == name]
             for name in ("01_none", "FlashAttention-3", "FlashAttention-4", "cuDNN")}
    cells = len(names["01_none"])
    ok(code == 0 and cells == 7 and all(line["status"] == "pass" for name in list(names)[:3]
                                        for line in names[name]),
       "REGIME=chunk: a stage, FlashAttention-3 and 4 agree on a few queries, heads in groups",
       f"{names} {stderr}")
    left_out = [line for line in names["cuDNN"] if line["status"] == "skip"]
    ok(left_out and all(("top-left" in (line["reason"] or "")) ==
                        (1 < line["seq_q"] != line["seq_kv"]) for line in names["cuDNN"]),
       "a peer with another mask is left out and says why", names["cuDNN"])
    ok(f"chunk   d128_fp16_causal B=1 H=32 HKV=8 N={names['01_none'][0]['seq_q']} NKV=" in stderr,
       "the shape is on stderr", stderr)
    ok(all(line["regime"] == "chunk" for line in lines[1:]), "the regime in each line")
    code, lines, stderr = peers("REGIME=decode", "REPS=3", "D=128", "CAUSAL=1", "PEERS=cudnn,fa3",
                                "07_head")
    ok([line["name"] for line in lines[1:4]] == ["07_head", "FlashAttention-3", "cuDNN"],
       "PEERS chooses", lines)
    single = [line for line in lines[1:] if line["seq_q"] == 1]
    ok(single and all(line["status"] == "pass" for line in single if line["stage"] is None),
       "the mask of one query hides nothing: all peers can", single)
    ok(code == 1 and all(line["status"] == "fail" for line in lines[1:] if line["stage"] == 7),
       "a stage whose heads read the wrong KV head fails", lines)
    code, lines, stderr = peers("REGIME=random", "SEED=3", "REPS=3", "D=128", "PEERS=fa3",
                                "01_none")
    again = peers("REGIME=random", "SEED=3", "REPS=3", "D=128", "PEERS=fa3", "01_none")[1]
    shapes = [[(line["batch"], line["heads"], line["seq_q"], line["seq_kv"]) for line in of[1:]]
              for of in (lines, again)]
    ok(code == 0 and shapes[0] == shapes[1] and len(set(shapes[0])) > 2,
       "REGIME=random SEED=3: shapes of that seed", f"{shapes} {stderr}")
    code, lines, stderr = peers("REGIME=chunk", "REPS=3", "D=64", "PEERS=cudnn", "01_none")
    ok(code == 1 and lines[2]["status"] == "skip", "where no peer can run", lines)


def sustained():
    code, lines, stderr = peers("SEQS=2", "D=128", "CAUSAL=0", "SUSTAINED=1", "PEERS=fa2,matmul",
                                "01_none", "03_nan")
    by_name = {line["name"]: line for line in lines[1:]}
    ok(len(lines) == 5 and code == 1 and by_name["03_nan"]["began"] is None,
       "SUSTAINED=1: one line a name, and none is lost", f"{lines} {stderr}")
    for name, ms in ("01_none", 2), ("FlashAttention-2", 8), ("matmul", 20):  # of a hot GPU
        line = by_name[name]
        ok(line["ms_median"] == line["ms_min"] == ms and line["sustained"] == 1 and
           re.fullmatch(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}", line["began"]) and
           line["host_us"] is None and line["began"] <= line["ended"],
           f"{name}: the mean, and when", line)
    milliseconds = int(stderr.split("time: ")[1].split()[0])
    ok(3000 < milliseconds < 6000, "each for one second, and rounds before", milliseconds)


def tests():
    code, lines, stderr = peers("SEQS=1,2", "REPS=3", "D=128", "CAUSAL=1", "01_none")
    ok(code == 0, "a right stage: exit 0", stderr)
    ok(lines[0]["peers"].startswith("PyTorch 0.fake, cuDNN 9.19, FlashAttention-3 of fa3_fwd 0, "
                                    "FlashAttention-4 0"),
       "the first line names the software", lines[0])
    ok(all(list(line) == KEYS for line in lines[1:]), "the others have the keys of the harness")
    ok(all((line["host_us"] or 0) > 0 for line in lines[1:] if line["ms_median"]),
       "the host's time for a call", lines)
    ok([line["name"] for line in lines[1:]] ==
       ["01_none", "FlashAttention-2", "FlashAttention-3", "FlashAttention-4", "cuDNN",
        "FlexAttention", "matmul"] * 2,
       "each name once a cell, stages first", [line["name"] for line in lines[1:]])
    by_name = {line["name"]: line for line in lines[1:] if line["seq_q"] == 2}
    ok(by_name["FlashAttention-2"]["ms_median"] == 4, "FlashAttention-2 in its better layout")
    ok(by_name["cuDNN"]["ms_median"] == 6, "cuDNN in its better layout")
    ok(by_name["FlashAttention-3"]["ms_median"] == 2 and
       by_name["FlashAttention-3"]["status"] == "pass", "FlashAttention-3 from its package",
       by_name["FlashAttention-3"])
    ok(by_name["FlashAttention-4"]["ms_median"] == 3 and
       by_name["FlashAttention-4"]["status"] == "pass", "FlashAttention-4 from its own",
       by_name["FlashAttention-4"])
    ok(by_name["FlexAttention"]["status"] == "skip" and
       by_name["FlexAttention"]["reason"] == "RuntimeError: no Triton here",
       "a peer that cannot run is skipped with its reason", by_name["FlexAttention"])
    stage = by_name["01_none"]
    ok(stage["batch"] == 32 and stage["heads"] == 16 and stage["causal"] is True,
       "64 tokens and a hidden size of 2048", stage)
    flops = 4 * 32 * 16 * 128 * 3
    ok(abs(stage["tflops"] - flops / 1e-3 * 1e-12) < 1e-9, "FLOPs of the causal pairs alone", stage)
    ok(abs(by_name["matmul"]["tflops"] - 2 * 8192**3 / 10e-3 * 1e-12) < 1e-9, "of the matrices too")
    ok(stage["max_error"] <= stage["tolerance"] < 0.1, "the stage's error is reported", stage)
    moved = 32 * 16 * 2 * (4 * 128 * 2 + 4)  # Q, K, V, O and LSE
    ok(abs(stage["gb_s"] - moved / 1e-3 * 1e-9) < 1e-9 and
       abs(stage["hbm_share"] * 1000 - stage["gb_s"]) < 1e-9 and
       by_name["matmul"]["gb_s"] is None and stage["regime"] == "square",
       "bytes a second, and their part of the memory's peak", stage)
    errors = {name: line["rms_error"] for name, line in by_name.items()}
    ok(all(1e-5 < errors[name] < 1e-3 and by_name[name]["checked_rows"] == 1024 for name in
           ("01_none", "FlashAttention-2", "FlashAttention-3", "FlashAttention-4", "cuDNN")),
       "RMS errors of all, small against the harness's truth: the inputs are the same", errors)
    ok(errors["matmul"] is None and errors["FlexAttention"] is None, "but of no others")
    ok((stage["init"], stage["strength"]) == ("normal", None), "inputs are normal")
    # Entries: a stage, two layouts of four peers, the product; each warmed up 20 times at most.
    early = int(stderr.split("flush: ")[1].split()[0])
    late = peers("SEQS=1,2", "REPS=3", "D=128", "CAUSAL=1", "01_none", FAKE_LATE="2")[2]
    ok(int(late.split("flush: ")[1].split()[0]) > 3 * early,
       "a repetition that the GPU waited for is taken again, after more writes", late)

    code, lines, stderr = peers("SEQS=4", "REPS=3", "D=128", "CAUSAL=0", "INIT=sink", "STRENGTH=30",
                                "SEED=3", "01_none", "02_element")
    stage, wrong = lines[1], lines[2]
    ok((stage["init"], stage["strength"], stage["status"]) == ("sink", 30, "pass") and
       "seq     4  sink 30 " in stderr, "INIT=sink STRENGTH=30", f"{stage} {stderr}")
    # 30 nats: O is V_0, which is exact, for all rows
    ok(stage["rms_error"] < 1e-6 < wrong["rms_error"], "whose O is V of key 0", f"{stage} {wrong}")
    code, lines, stderr = peers("SEQS=2", "REPS=3", "D=128", "CAUSAL=1", "INIT=all", "PEERS=fa3",
                                "01_none")
    made = [(line["init"], line["strength"]) for line in lines if line.get("stage") == 1]
    ok(code == 0 and len(made) == len(set(made)) == 10 and made[0] == ("normal", None) and
       ("primacy", 100) in made, "INIT=all: ten inputs, each once", f"{made} {stderr}")

    regimes()
    sustained()

    code, lines, stderr = peers("SEQS=1", "REPS=3", "D=128", "CAUSAL=0", *STAGES)
    status = {line["name"]: (line["status"], line["reason"]) for line in lines[1:]}
    ok(code == 1, "stages with bugs: exit 1", stderr)
    ok(status["01_none"] == ("pass", None), "the right one passes", status)
    for stage, expected, text in (("02_element", "fail", "O differs from the first peer's by"),
                                  ("03_nan", "fail", "O differs from the first peer's by nan"),
                                  ("09_later", "fail", "O differs from the first peer's by"),
                                  ("11_launch", "fail", "attention_launch: error 1 of"),
                                  ("12_unsupported", "skip", "needs compute capability 12.0"),
                                  ("13_workspace", "skip", "needs 1125899906842624 bytes")):
        ok(status[stage][0] == expected and text in status[stage][1], f"{stage}: {text}",
           status[stage])
    ok(all(line["tflops"] is None for line in lines[1:] if line["status"] != "pass"),
       "what did not pass has no speed")

    code, lines, stderr = peers("SEQS=1", "REPS=3", "D=64", "CAUSAL=0", "01_none")
    ok(code == 1 and "d64_fp16_full.so" in lines[1]["reason"], "a variant that is not built", lines)
    for argument in "D=96", "SEQS=0", "SEQS=1,x", "REPS=-1", "DTYPE=fp8", "N=5", "INIT=zero", \
            "STRENGTH=3", "PEERS=fa5", "REGIME=huge", "SUSTAINED=3":
        code, _, stderr = peers(argument, "01_none")
        says = "needs INIT=sink" if argument == "STRENGTH=3" else "allowed are"
        ok(code == 64 and f"{argument.split(',')[0]}"[:4] in stderr and says in stderr,
           f"{argument}: exit 64 and a sentence", stderr)
    for packages, reason, of_fourth in (
            ("0", "ModuleNotFoundError: no package flash_attn_3, fa3_fwd, xformers",
             "ModuleNotFoundError: No module named 'flash_attn'"),
            ("broken", "OSError: made for another PyTorch", "AssertionError: no message")):
        code, lines, stderr = peers("SEQS=1", "REPS=3", "D=128", "CAUSAL=0", "01_none",
                                    FAKE_PACKAGES=packages)
        skipped = {line["name"]: line["reason"] for line in lines if line.get("status") == "skip"}
        ok(code == 0 and "FlashAttention-3" not in lines[0]["peers"] and
           skipped["FlashAttention-3"] == reason,
           f"without FlashAttention-3 it is skipped: {reason}", f"{skipped} {stderr}")
        ok(skipped["FlashAttention-4"] == of_fourth, f"so is the other: {of_fourth}", skipped)
    code, lines, stderr = peers("SEQS=1", "01_none", FAKE_GPUS="0")
    ok(code == 2 and "PyTorch sees 0 GPUs" in stderr and not lines, "no GPU: exit 2", stderr)
    code, lines, stderr = peers("SEQS=1", "01_none", TRUTH=str(work / "none.so"))
    ok(code == 2 and stderr.startswith("peers.py: the harness's library cannot be loaded: make ")
       and stderr.count("\n") == 1, "no library of the harness: exit 2 and a sentence", stderr)


build()
tests()
