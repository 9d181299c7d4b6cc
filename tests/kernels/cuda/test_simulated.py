"""Kernels of a graphics card run by Python: numba's simulator needs an environment of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

LEAST = 20
"""Tests that have to run."""


@pytest.mark.slow
def test_simulated_kernels_equal_the_processor():
    file = Path(__file__).with_name("simulated.py")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(file)]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    environment = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed and int(passed.group(1)) >= LEAST
    assert "skipped" not in run.stdout
