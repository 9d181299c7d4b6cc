"""Long tests run again where anything that they depend on has changed."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from package_walk import MODULES, ROOT

RUN = """
import json, sys, pytest
assert pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", sys.argv[1]]) == 0
print(json.dumps([name for name in sys.modules if name.startswith("twin.")]))
"""
"""Runs a file of tests, and says which modules of the package it has loaded."""


@pytest.fixture(scope="module")
def thorough():
    """Return the script, which is in no package."""
    spec = spec_from_file_location("thorough", ROOT / ".ci" / "thorough.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plant/test_drives.py", "envs/test_saturation.py"])
def test_all_modules_that_a_test_loads_are_among_its_dependencies(thorough, name):
    file = ROOT / "tests" / name
    command = [sys.executable, "-c", RUN, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {MODULES[module] for module in json.loads(done.stdout.splitlines()[-1])}
    found = thorough.dependencies([file, ROOT / "tests" / "conftest.py"])
    assert len(loaded) > 50 and loaded <= found


@pytest.mark.slow
def test_dependencies_are_followed_and_end(thorough):
    found = thorough.dependencies([ROOT / "tests" / "model" / "dynamics" / "test_batches.py"])
    assert MODULES["twin.kernels.dynamics.assembly"] in found
    assert not [file for file in found if "page" in file.parts]


@pytest.mark.slow
def test_every_file_with_long_tests_is_run_by_one_check(thorough):
    checks = thorough.long_tests().values()
    files = [ROOT / file for check in checks for file in check.files]
    marked = [
        file for file in (ROOT / "tests").rglob("test_*.py") if "mark.slow" in file.read_text()
    ]
    assert set(marked) <= set(files) and len(files) == len(set(files))
    # Its tests are long on two of the machines of a fixture.
    assert ROOT / "tests" / "test_platform.py" in files
    for check in checks:
        assert set(check.files) <= set(check.covers)
