#!/usr/bin/env python3
"""Everything that the decoder knows is executed by a test.

Catches: an opcode, type, modifier or special register that somebody adds without a test. The lists
are the decoder's own: the strings in ops_*.c and specials.c. The tests say what they executed (see
run_ptx.h); each row of a table needs an instruction of its opcode and each of its types, and each
other word an instruction of one of its file's opcodes."""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "../../../build/test/tools/ptxsim/*/test")
HALVES = ["f16", "f16x2", "bf16", "bf16x2"]
WORD = r'"([\w.:]+)"'
# What a decode function takes from an opcode, and its lists of alternatives.
TAKEN = r'\b(?:opcode_is|take|is_part)\(([^;]*?)\)|\*const \w+\[\] = \{(.*?)\};'


def executed():
    """The opcodes that the tests execute, as lists of parts, and the whole instructions."""
    with tempfile.NamedTemporaryFile() as log:
        for program in sorted(glob.glob(PROGRAMS + "/test_[os]*")):
            subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, "PTX_EXECUTED": log.name}, check=False)
        texts = set(log.read().decode().split("\n"))
    opcodes = {re.sub(r"^@!?\S+\s+", "", text).split(None, 1)[0] for text in texts if text}
    return [opcode.split(".") for opcode in opcodes], texts


def has(opcodes, opcode, last=None):
    """Whether an executed opcode begins with the first part, has the others, and ends in `last`."""
    first, *others = opcode.split(".")
    return any(parts[0] == first and all(o in parts for o in others) and last in (None, parts[-1])
               for parts in opcodes)


def rows(source):
    """The rows of the decoder's tables: opcode and type."""
    for opcode, types in re.findall(r'\{' + WORD + r', "([\w ]+)", "[\dp=]+", \w+,', source):
        yield from ((opcode, last) for last in types.split())
    for last in ("f32", "f64"):
        for table in re.findall(rf"rows_{last}\[\] = \{{(.*?)\n\}};", source, re.S):
            yield from ((opcode, last) for opcode in re.findall(r"\{" + WORD + ", ", table))
    for opcode in re.findall(r"\{" + WORD + r",\s+HALF_\w+,", source):
        yield from ((opcode, last) for last in HALVES)
    for to, last in re.findall(r"\{" + WORD + ", " + WORD + r", \w+_from_\w+\}", source):
        yield "cvt." + to, last


def missing_words(source, opcodes):
    """Words of a file that no instruction has whose opcode is among the file's words."""
    taken = " ".join("".join(found) for found in re.findall(TAKEN, source, re.S))
    words = set(re.findall(WORD, taken))
    first = words | {opcode.split(".")[0] for opcode, _ in rows(source)}
    own = [parts for parts in opcodes if parts[0] in first]
    return sorted(word for word in words if not any(word in parts for parts in own))


def check(path, opcodes, texts):
    """What of a file is never executed."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    missing = [f"{opcode}.{last}" for opcode, last in rows(source)
               if not has(opcodes, opcode, last)]
    missing += missing_words(source, opcodes)
    missing += [name for name in re.findall(r'"(%[\w.]+)"', source)
                if not any(re.search(re.escape(name) + r"(?![\w.])", text) for text in texts)]
    return missing


def main():
    if not glob.glob(PROGRAMS + "/test_ops*"):
        print("1..0 # SKIP the C tests are not built")
        return 0
    opcodes, texts = executed()
    failed = False
    sources = sorted(glob.glob(HERE + "/../ops/ops_*.c"))
    sources.append(HERE + "/../decode/specials.c")
    print(f"1..{len(sources)}")
    for number, path in enumerate(sources, 1):
        missing = check(path, opcodes, texts)
        failed |= bool(missing)
        print(f"{'not ' if missing else ''}ok {number} - {os.path.basename(path)}: all is executed")
        for what in missing:
            print(f"# never executed: {what}")
    return int(failed)


sys.exit(main())
