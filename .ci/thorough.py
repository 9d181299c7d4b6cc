"""Run the checks that take long and seldom fail, where the files that they cover have changed.

    python .ci/thorough.py          run them, and note in .ci/passed.json what passes
    python .ci/thorough.py --list   say which of them have to run

The note is committed. It holds a hash of the contents of the files that a check covered when it
last passed: as long as they stay the same, so does the result.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PASSED = ROOT / ".ci" / "passed.json"

HELPERS = "tests/support"
"""What tests, generated input and the looks of pages are made with."""

CODE = ("twin", "envs", "validation", "assets", "pyproject.toml", "setup.py", "Makefile")


class Check(NamedTuple):
    """One check: the files and folders that it covers, and a command of bash."""

    covers: tuple[str, ...]
    command: str


CHECKS = {
    "report on another processor": Check(
        CODE,
        "OPENBLAS_CORETYPE=Prescott .venv/bin/twin validate --out build/other.html"
        " --json build/other.json && make report"
        " && .venv/bin/python .ci/same_verdicts.py report.json build/other.json",
    ),
    "quick tests on other processors": Check(
        (*CODE, "tests", "docs", "README.md", "examples"),
        # `make test` runs as Haswell, whose routines OpenBLAS takes on Zen too.
        "last=Nehalem; grep -q avx512f /proc/cpuinfo && last=SkylakeX;"
        ' for kind in Prescott "$last"; do'
        " OPENBLAS_CORETYPE=$kind make quick || exit 1; done",
    ),
    "wrong models": Check((*CODE, HELPERS, "tests/mutations"), "make mutations"),
    "machines of the gallery": Check((*CODE, HELPERS, "tests/validation"), "make gallery-report"),
    "generated bad input": Check((*CODE, HELPERS, "tests/hostile"), "make hostile INPUTS=4000"),
    "learning": Check(
        (
            *CODE,
            HELPERS,
            "examples",
            "tests/training",
            "tests/sweep",
            "tests/envs",
            "tests/kernels/cuda",
        ),
        "make build/rl/.installed && make test-rl",
    ),
    "documents": Check(
        (
            *CODE,
            "docs",
            "examples",
            "benchmarks/*.py",
            HELPERS,
            "tests/legible",
            "README.md",
            "CHANGELOG.md",
        ),
        # Pages are looked at in Chromium where there is one.
        "if command -v chromium >/dev/null; then make pages; else make docs; fi",
    ),
}


def content_hash(covers: tuple[str, ...]) -> str:
    """Return a hash of the names and contents of the files that git knows, or would add."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z", "--", *covers]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    digest = hashlib.sha256()
    for name in sorted({*listed.split("\0")} - {""}):
        if (ROOT / name).is_file():
            digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes() + b"\0")
    return digest.hexdigest()


def main() -> None:
    """Run what has changed since it last passed."""
    parser = argparse.ArgumentParser(description="Run what has changed since it last passed.")
    parser.add_argument("--list", action="store_true", help="only say which have to run")
    only_list = parser.parse_args().list
    passed = json.loads(PASSED.read_text()) if PASSED.is_file() else {}
    for name, check in CHECKS.items():
        if passed.get(name) == content_hash(check.covers):
            print(f"== {name}: passed on these files", flush=True)
            continue
        print(f"== {name}", flush=True)
        if only_list:
            continue
        if subprocess.run(["bash", "-c", check.command], cwd=ROOT, check=False).returncode:
            sys.exit(f"{name}: failed")
        # A check may write files that it covers, such as the table of the wrong models.
        passed[name] = content_hash(check.covers)
        PASSED.write_text(json.dumps(passed, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
