"""Start-up: importing the package, and the command line answering --help."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.benchmark(group="start-up")
@pytest.mark.parametrize("code", ["pass", "import twin"])
def test_import(benchmark, code):
    benchmark.pedantic(subprocess.run, args=([sys.executable, "-c", code],), rounds=7)


@pytest.mark.benchmark(group="start-up")
def test_help(benchmark):
    command = [sys.executable, "-m", "twin", "--help"]
    benchmark.pedantic(subprocess.run, args=(command,), kwargs={"capture_output": True}, rounds=7)
