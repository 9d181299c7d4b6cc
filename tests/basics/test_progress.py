"""The line before the first compilation: once, and on a terminal alone."""

import os
import subprocess
import sys

import numpy as np
import pytest
from refusals import assert_each_refused

from twin.basics.progress import Progress

pytestmark = pytest.mark.quick

CODE = """
import numba
import twin.kernels
for number in (1, 1.0):
    numba.njit(lambda x: x + 1)(number)
"""


def errors_of(code, *, terminal):
    """Return the text that Python code writes to its standard error, a terminal or a pipe."""
    reader, writer = os.openpty() if terminal else os.pipe()
    subprocess.run([sys.executable, "-c", code], check=True, stderr=writer)
    os.write(writer, b"end\n")
    text = ""
    while "end" not in text:
        text += os.read(reader, 4096).decode()
    os.close(reader)
    os.close(writer)
    return text


@pytest.mark.slow
def test_the_first_compilation_is_announced_once_on_a_terminal():
    assert errors_of(CODE, terminal=True).splitlines() == [
        "compiling the equations, once on this computer, 5 to 20 s",
        "end",
    ]


@pytest.mark.slow
def test_nothing_is_announced_elsewhere():
    assert errors_of(CODE, terminal=False) == "end\n"
    assert errors_of("import twin.kernels", terminal=True).splitlines() == ["end"]


@pytest.mark.slow
def test_garbage_is_collected_again_after_a_compilation():
    """Also where a kernel compiles another, and where compiling fails."""
    code = """
import gc
import numba, twin.kernels

@numba.njit
def inner(x):
    return x + 1

numba.njit(lambda x: inner(x))(1)
assert gc.isenabled()
try:
    numba.njit(lambda x: x.nothing)(1)
except numba.core.errors.TypingError:
    pass
assert gc.isenabled()
gc.disable()
numba.njit(lambda x: x - 1)(1)
assert not gc.isenabled()
"""
    assert errors_of(code, terminal=False) == "end\n"


def test_other_values_are_refused():
    assert_each_refused(
        lambda progress: Progress("work", 3, progress),
        {"progress": [np.array([True, False]), "x", 1, []]},
    )
