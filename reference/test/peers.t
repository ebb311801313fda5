#!/usr/bin/env python3
"""reference/peers.py on a fake PyTorch (fake_torch/) and the harness's fake stages.

Catches: a key of the JSON lines that differs from the harness's, a wrong or unwritten element that
passes, inputs that are not those that the truth is of, an input left out, the slower of two layouts
reported, a peer that is missing and fells the others, a wrong FLOP count, a repetition kept for
which the GPU had to wait, a bad value without a sentence.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from tap import ok

ROOT = pathlib.Path(__file__).parent.parent.parent
COMMON = ROOT / "common"
folder = tempfile.TemporaryDirectory()
work = pathlib.Path(folder.name)
STAGES = ["01_none", "02_element", "03_nan", "09_later", "11_launch", "12_unsupported",
          "13_workspace"]
KEYS = """stage name device simulated dtype causal batch heads kv_heads seq_q seq_kv d init strength
status reason max_error tolerance rms_error checked_rows ms_median ms_min tflops registers threads
shared_bytes spill_bytes counters""".split()


def compile_shared(output, *arguments):
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared",
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
    """Runs the program on 64 tokens; its exit code, objects and stderr."""
    path = f"{ROOT}/reference:{ROOT}/reference/test/fake_torch"
    done = subprocess.run(
        [sys.executable, "-c", "import peers; peers.TOKENS = 64; peers.main()", *arguments],
        cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1",
             "CUDART": str(work / "runtime.so"),
             "TRUTH": str(ROOT / os.environ.get("TRUTH", "build/libtruth.so")), **environment})
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, lines, done.stderr


def tests():
    code, lines, stderr = peers("SEQS=1,2", "REPS=3", "D=128", "CAUSAL=1", "01_none")
    ok(code == 0, "a right stage: exit 0", stderr)
    ok(lines[0]["peers"].startswith("PyTorch 0.fake, cuDNN 9.19, FlashAttention-3 of fa3_fwd 0"),
       "the first line names the software", lines[0])
    ok(all(list(line) == KEYS for line in lines[1:]), "the others have the keys of the harness")
    ok([line["name"] for line in lines[1:]] ==
       ["01_none", "FlashAttention-2", "FlashAttention-3", "cuDNN", "FlexAttention", "matmul"] * 2,
       "each name once a cell, stages first", [line["name"] for line in lines[1:]])
    by_name = {line["name"]: line for line in lines[1:] if line["seq_q"] == 2}
    ok(by_name["FlashAttention-2"]["ms_median"] == 4, "FlashAttention-2 in its better layout")
    ok(by_name["cuDNN"]["ms_median"] == 6, "cuDNN in its better layout")
    ok(by_name["FlashAttention-3"]["ms_median"] == 2 and
       by_name["FlashAttention-3"]["status"] == "pass", "FlashAttention-3 from its package",
       by_name["FlashAttention-3"])
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
    errors = {name: line["rms_error"] for name, line in by_name.items()}
    ok(all(1e-5 < errors[name] < 1e-3 and by_name[name]["checked_rows"] == 1024 for name in
           ("01_none", "FlashAttention-2", "FlashAttention-3", "cuDNN")),
       "RMS errors of all, small against the harness's truth: the inputs are the same", errors)
    ok(errors["matmul"] is None and errors["FlexAttention"] is None, "but of no others")
    ok((stage["init"], stage["strength"]) == ("normal", None), "inputs are normal")
    # Entries: a stage, two layouts of three peers, the product; each warmed up 20 times at most.
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
    code, lines, stderr = peers("SEQS=2", "REPS=3", "D=128", "CAUSAL=1", "INIT=all", "01_none")
    made = [(line["init"], line["strength"]) for line in lines if line.get("stage") == 1]
    ok(code == 0 and len(made) == len(set(made)) == 10 and made[0] == ("normal", None) and
       ("primacy", 100) in made, "INIT=all: ten inputs, each once", f"{made} {stderr}")

    default = subprocess.run(
        [sys.executable, "-c", "import peers; print(peers.parse(['INIT=all'])[0]['SEQS'])"],
        env={**os.environ, "PYTHONPATH": f"{ROOT}/reference", "PYTHONDONTWRITEBYTECODE": "1"},
        text=True, stdout=subprocess.PIPE, check=True).stdout
    ok(default == "[4096, 16384]\n", "at two lengths, unless SEQS chooses", default)

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
            "STRENGTH=3":
        code, _, stderr = peers(argument, "01_none")
        ok(code == 64 and f"{argument.split(',')[0]}"[:4] in stderr and "allowed are" in stderr,
           f"{argument}: exit 64 and a sentence", stderr)
    for packages, reason in (
            ("0", "ModuleNotFoundError: no package flash_attn_3, fa3_fwd, xformers"),
            ("broken", "OSError: made for another PyTorch")):
        code, lines, stderr = peers("SEQS=1", "REPS=3", "D=128", "CAUSAL=0", "01_none",
                                    FAKE_PACKAGES=packages)
        skipped = [line for line in lines if line.get("name") == "FlashAttention-3"]
        ok(code == 0 and "FlashAttention-3" not in lines[0]["peers"] and len(skipped) == 1 and
           skipped[0]["status"] == "skip" and skipped[0]["reason"] == reason,
           f"without FlashAttention-3 it is skipped: {reason}", f"{skipped} {stderr}")
    code, lines, stderr = peers("SEQS=1", "01_none", FAKE_GPUS="0")
    ok(code == 2 and "PyTorch sees 0 GPUs" in stderr and not lines, "no GPU: exit 2", stderr)


build()
tests()
