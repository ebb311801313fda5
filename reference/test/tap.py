"""The Test Anything Protocol for the Python tests."""
import atexit
import os
import sys

import numpy as np

_results = []


def ok(passed, description, note=""):
    _results.append(bool(passed))
    print(f"{'ok' if passed else 'not ok'} {len(_results)} - {description}", flush=True)
    if not passed and note:
        print("# " + str(note).replace("\n", "\n# "))


def error(got, expected):
    """The largest |got - expected| / max(1, |expected|); infinite if an inf or a NaN differs."""
    got, expected = np.float64(got), np.float64(expected)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        distance = np.abs(got - expected) / np.maximum(1, np.abs(expected))
    distance = np.where(same, 0, np.where(np.isfinite(distance), distance, np.inf))
    return distance.max(initial=0)


@atexit.register
def _plan():
    print(f"1..{len(_results)}", flush=True)
    sys.stdout.flush()
    if not all(_results):
        os._exit(1)
