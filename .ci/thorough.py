"""Run the checks that take long and seldom fail, where the files that they cover have changed.

    python .ci/thorough.py          run them, and note in .ci/passed.json what passes
    python .ci/thorough.py --list   say which of them have to run

The note is committed. It holds a hash of the contents of the files that a check covered when it
last passed: as long as they stay the same, so does the result.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PASSED = ROOT / ".ci" / "passed.json"

HELPERS = ("tests/support", "tests/conftest.py")
"""What tests, generated input and the looks of pages are made with."""

DATA = ("toml", "csv", "npz", "json", "md", "html", "css", "js", "c", "xml", "urdf", "stl", "obj")
"""Kinds of files that the package reads."""

CODE = ("twin", "envs", "validation", "assets", "pyproject.toml", "setup.py", "Makefile")


LONG_TEST = re.compile(
    r"mark\.(slow|every_kind)|def test_\w+\((?:[^)]*\W)?(?:platform|description|scale|states)\b"
)
"""What a file with tests marked `slow` contains: a mark, or a fixture of which some machines are
marked."""


class Check(NamedTuple):
    """One check: the files and folders that it covers, and a command of bash.

    Checks with the same command run together; its variable FILES names the files of all of them.
    """

    covers: tuple[str, ...]
    command: str
    files: tuple[str, ...] = ()


CHECKS = {
    "report on another processor": Check(
        CODE,
        "OPENBLAS_CORETYPE=Prescott .venv/bin/twin validate --report build/other.html"
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
    "wrong models": Check((*CODE, *HELPERS, "tests/mutations"), "make mutations"),
    "machines of the gallery": Check((*CODE, *HELPERS, "tests/validation"), "make gallery-report"),
    "generated bad input": Check((*CODE, *HELPERS, "tests/hostile"), "make hostile INPUTS=4000"),
    "learning": Check(
        (
            *CODE,
            *HELPERS,
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
            *HELPERS,
            "tests",
            ":(exclude)tests/hostile",
            "README.md",
            "CHANGELOG.md",
        ),
        # Pages are looked at in Chromium where there is one.
        "if command -v chromium >/dev/null; then make pages; else make docs page-tests; fi",
    ),
    "extras and the source archive": Check(
        (*CODE, "MANIFEST.in", "README.md", "docs/handbook", ".ci/versions.py"),
        ".venv/bin/python .ci/versions.py extras archive",
    ),
}


SOURCES = {
    "twin": "twin",
    "twin.assets": "assets",
    "twin.envs": "envs",
    "twin.validation": "validation",
}
"""Packages of the distribution -> their folders."""

MODULE_NAME = re.compile(r"\btwin(?:\.\w+)+")
"""A module of the package, as strings name it: tables of classes, programs for other processes."""


def modules() -> dict[str, Path]:
    """Return the files of the package, and those that tests import from, by their names."""
    found = {}
    folders = {
        **SOURCES,
        "": "tests/support",
        "hostile": "tests/hostile",
        "legible": "tests/legible",
    }
    for package, folder in (folders | {"mutations": "tests/mutations"}).items():
        for file in (ROOT / folder).rglob("*.py"):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            names = [package, *parts] if parts[-1] != "__init__" else [package, *parts[:-1]]
            found[".".join(filter(None, names))] = file
    return found


@cache
def named_modules(file: Path) -> set[str]:
    """Return the names of modules that a file imports, anywhere in it, or names in a string."""
    tree, names = ast.parse(file.read_text(encoding="utf-8")), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= {*MODULE_NAME.findall(node.value)}
    return names


def dependencies(files: list[Path]) -> set[Path]:
    """Return the Python files that others depend on, whatever is imported only when it is needed.

    A file that makes up names of modules depends on all of its folder.
    """
    known = modules()
    found, waiting = set[Path](), list(files)
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for name in named_modules(file):
            parts = name.split(".")
            parents = (".".join(parts[: k + 1]) for k in range(len(parts)))
            waiting += [known[parent] for parent in parents if parent in known]
        if re.search(r"import_module\(\s*f", file.read_text(encoding="utf-8")):
            waiting += file.parent.rglob("*.py")
    return found


def long_tests() -> dict[str, Check]:
    """Return the tests marked `slow` of every folder, with all that these files depend on."""
    folders = [folder for folder in (ROOT / "tests").iterdir() if folder.is_dir()]
    files = {folder: sorted(folder.rglob("test_*.py")) for folder in folders}
    files[ROOT / "tests"] = sorted((ROOT / "tests").glob("test_*.py"))
    checks = {}
    for folder, tests in sorted(files.items()):
        slow = [file for file in tests if LONG_TEST.search(file.read_text(encoding="utf-8"))]
        if not slow:
            continue
        code = dependencies([*slow, *folder.rglob("conftest.py"), ROOT / "tests" / "conftest.py"])
        names = sorted(str(file.relative_to(ROOT)) for file in code)
        # Data of the package, whoever reads them.
        data = (f":(glob){folder}/**/*.{kind}" for folder in SOURCES.values() for kind in DATA)
        covers = (*names, *data, "pyproject.toml", "Makefile")
        if folder.name == "tests":
            covers += ("docs", "examples", "benchmarks", ".ci/*.py", "README.md", "CHANGELOG.md")
            # Every run of CI adds a row.
            covers += (":(exclude)benchmarks/results/history.csv",)
        chosen = tuple(str(file.relative_to(ROOT)) for file in slow)
        checks[f"long tests of {folder.name}"] = Check(covers, "make slow", chosen)
    return checks


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
    checks = CHECKS | long_tests()
    waiting: dict[str, list[str]] = {}
    for name, check in checks.items():
        if passed.get(name) == content_hash(check.covers):
            print(f"== {name}: passed on these files", flush=True)
        else:
            waiting.setdefault(check.command, []).append(name)
    for command, names in waiting.items():
        print(f"== {', '.join(names)}", flush=True)
        if only_list:
            continue
        files = " ".join(file for name in names for file in checks[name].files)
        environment = os.environ | {"FILES": files}
        if subprocess.run(
            ["bash", "-c", command], cwd=ROOT, env=environment, check=False
        ).returncode:
            sys.exit(f"{', '.join(names)}: failed")
        # A check may write files that it covers, such as the table of the wrong models.
        passed |= {name: content_hash(checks[name].covers) for name in names}
        PASSED.write_text(json.dumps(passed, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
