"""Kernels' caches: what they depend on, and what they survive."""

import multiprocessing
import os
import pickle
import subprocess
import sys

import pytest
from llvmlite import binding
from numba import types
from numba.core.registry import cpu_target

from twin.kernels.jit import KernelFiles, KernelLibrary, called_modules
from twin.kernels.linear_algebra import cross

TYPES = """
from typing import NamedTuple
import numpy as np
class Pair(NamedTuple):
    first: np.ndarray
"""

KERNEL = """
import numpy as np
from twin.kernels.jit import compiled
from {module} import Pair
@compiled
def total(pair):
    return pair.first.sum()
print(total(Pair(np.ones(3))))
"""

LINKED = """
import sys
from twin.kernels.jit import compiled, device
@device
def twice(x):
    return 2.0 * x
@compiled
def first(x):
    return twice(x) + 1.0
@compiled
def second(x):
    return twice(x) - 1.0
print({"first": first, "second": second}[sys.argv[1]](1.5), sum(twice.stats.cache_hits.values()))
"""

SAME_NAMES = """
import sys
from math import sqrt
import numpy as np
from twin.kernels.jit import compiled, device
from twin.kernels.numbers.arrays import as_lanes
@device
def size(x):
    return abs(x)
@device
def root(x):
    return sqrt(x)
@compiled
def first(values, width):
    numbers = as_lanes(values, width)
    numbers[0] = size(numbers[0])
@compiled
def second(values, width):
    numbers = as_lanes(values, width)
    numbers[0] = root(numbers[0])
@compiled
def both(values, width):
    numbers = as_lanes(values, width)
    numbers[0] = root(size(numbers[0]))
values = np.array([[16.0, 81.0]])
{"first": first, "second": second, "both": both}[sys.argv[1]](values, (0, 0))
print(*values[0], sum(sum(each.stats.cache_hits.values()) for each in (size, root)))
"""


def run(folder, *arguments):
    """Return what the kernel's file prints in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(folder / "kernel.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_cache_survives_a_type_that_moved(tmp_path):
    for module in ("before", "after"):
        for old in tmp_path.glob("*.py"):
            old.unlink()
        (tmp_path / f"{module}.py").write_text(TYPES)
        (tmp_path / "kernel.py").write_text(KERNEL.format(module=module))
        assert run(tmp_path) == "3.0"
    assert run(tmp_path) == "3.0"


@pytest.mark.slow
@pytest.mark.quick
def test_a_kernel_links_functions_from_the_cache(tmp_path):
    (tmp_path / "kernel.py").write_text(LINKED)
    assert run(tmp_path, "first") == "4.0 0"
    assert run(tmp_path, "second") == "2.0 1"


@pytest.mark.slow
@pytest.mark.quick
def test_functions_of_one_name_from_several_processes_stay_apart(tmp_path):
    """`abs` and `sqrt` of lanes are functions of one name, told apart by numba's numbers alone."""
    (tmp_path / "kernel.py").write_text(SAME_NAMES)
    assert run(tmp_path, "first") == "16.0 81.0 0"
    assert run(tmp_path, "second") == "4.0 9.0 0"
    assert run(tmp_path, "both") == "4.0 9.0 2"


@pytest.mark.quick
def test_functions_of_kernels_have_no_machine_code():
    function = cross
    vector = types.UniTuple(types.float64, 3)
    function.compile((vector, vector))
    result = function.overloads[vector, vector]
    assert result.library.get_pointer_to_function(result.fndesc.llvm_func_name) == 0


def keep(folder, mark, barrier):
    """Write fifty compiled versions, at the same time as another process."""
    barrier.wait()
    for number in range(50):
        KernelFiles(str(folder), "kernel", "stamp").save((mark, number), [mark, number])


@pytest.mark.quick
def test_processes_that_compile_at_once_keep_what_is_theirs(tmp_path):
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(2)
    both = [context.Process(target=keep, args=(tmp_path, mark, barrier)) for mark in "ab"]
    for process in both:
        process.start()
    for process in both:
        process.join()
    files = KernelFiles(str(tmp_path), "kernel", "stamp")
    for mark in "ab":
        for number in range(50):
            assert files.load((mark, number)) == [mark, number]
    assert KernelFiles(str(tmp_path), "kernel", "later").load(("a", 0)) is None
    files.flush()
    assert files.load(("a", 0)) is None


HELPER = """
define linkonce_odr double @helper(double %x) noinline { %y = fmul double %x, %x ret double %y }
define double @kernel(double %x) { %y = call double @helper(double %x) ret double %y }
"""


@pytest.mark.quick
def test_kernels_do_not_share_the_functions_that_they_call():
    library = KernelLibrary(cpu_target.target_context.codegen(), "kernel")
    library._final_module.link_in(binding.parse_assembly(HELPER))
    library._optimize_final_module()
    found = {each.name: each.linkage for each in library._final_module.functions}
    assert found == {"kernel": binding.Linkage.external, "helper": binding.Linkage.internal}


def test_cache_depends_on_every_kernel_that_is_called():
    called = called_modules("twin.kernels.tasks.pose_tracking")
    assert {"twin.kernels.linear_algebra", "twin.kernels.legs.ups"} <= called
    assert "twin.kernels.tasks.ball_balance" not in called
    assert "twin.kernels.numbers.lanes" in called, "in lanes, too"
    formulation = called_modules("twin.papers.formulations.kernels.march")
    assert {
        "twin.kernels.linear_algebra",
        "twin.papers.formulations.kernels.spaces",
    } <= formulation


def test_cache_depends_on_kernels_alone():
    called = called_modules("twin.kernels.dynamics.forward")
    assert called
    assert all(module.startswith("twin.kernels") for module in called)


@pytest.mark.quick
@pytest.mark.parametrize("change", ["byte", "garbage", "nothing", "folder", "old"])
def test_a_damaged_file_is_as_good_as_none(change, tmp_path):
    """And the next version that is kept takes its place."""
    files = KernelFiles(str(tmp_path), "kernel", "stamp")
    files.save("key", list(range(1000)))
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    damaged = {"garbage": b"\xff\xfe garbage", "nothing": b"", "old": pickle.dumps("x")}
    if change == "folder":
        path.unlink()
        path.mkdir()
        assert files.load("key") is None
        return
    for place in range(0, len(content), 7 if change == "byte" else len(content)):
        flipped = content[:place] + bytes([content[place] ^ 8]) + content[place + 1 :]
        path.write_bytes(damaged.get(change, flipped))
        assert files.load("key") is None
    files.save("key", [1.0])
    assert files.load("key") == [1.0]


FULL = """
import errno, os, warnings
from twin.kernels.jit import KernelFiles
from twin.kernels.jit import compiled, device
def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
KernelFiles._open_for_write = full
@device
def twice(x):
    return 2.0 * x
@compiled
def first(x):
    return twice(x) + 1.0
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    print(first(1.5), len(said), "No space left on device" in str(said[0].message))
"""


@pytest.mark.slow
@pytest.mark.quick
def test_a_full_disk_ends_no_call(tmp_path):
    """It is said once, for all kernels."""
    (tmp_path / "kernel.py").write_text(FULL)
    assert run(tmp_path) == "4.0 1 True"
