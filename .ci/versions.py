"""Check the package where it is installed otherwise than for development.

    python .ci/versions.py             all checks
    python .ci/versions.py extras      some of them: extras, archive, pythons, bounds

What this computer lacks, an interpreter or a library that cannot be downloaded, is said and left
out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "versions"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = PROJECT["name"]

OTHER_PYTHONS = ("3.12", "3.13")
"""On these PyBullet is no dependency: the quick tests run without it."""

MISSING = re.compile(r"No matching distribution|Could not find a version|[Cc]onnection|timed out")
"""What pip says of a library that it cannot download."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "": ("list", "info stewart", "simulate stewart --duration 0.05 --engine mujoco"),
    "bullet": ("simulate stewart --duration 0.05 --engine bullet",),
    "control": ("track stewart --controller lqr --duration 0.1",),
    "sweep": ("simulate stewart --duration 0.05 --out run.parquet",),
    "tables": ("simulate stewart --duration 0.05 --out run.parquet",),
    "logs": ("simulate stewart --duration 0.05 --out run.mcap", "logs run.mcap"),
    "render": ("render stewart --duration 0.1 --pixels 64x48 --out film.mp4",),
    "report": ("simulate stewart --duration 0.05 --report run.html",),
}
"""Extra -> commands that need it; of every extra its libraries are imported, too."""

PROBE = """
import os, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
absent = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Absent())
from twin.basics.optional import optional
for library in filter(None, sys.argv[2].split(",")):
    optional(library)
from twin.cli import app
for command in filter(None, sys.argv[3].split(";")):
    app(command.split(), standalone_mode=False)
"""
"""Imports libraries and runs commands, as if all that an extra does not bring were missing."""


def run(*command: object, folder: Path = ROOT, **variables: str) -> None:
    """Run a command; what it says is shown where it fails.

    Raises:
        subprocess.CalledProcessError: it fails.
    """
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-4000:], file=sys.stderr)
        raise subprocess.CalledProcessError(done.returncode, words, done.stdout, done.stderr)


# Extras.


def brought(extra: str) -> set[str]:
    """Return the distributions that the package brings with an extra, and what they need."""
    known = {canonicalize_name(each.metadata["Name"]): each for each in distributions()}
    found: set[tuple[str, str]] = set()
    waiting = [(canonicalize_name(NAME), part) for part in {"", extra}]
    while waiting:
        name, part = waiting.pop()
        if (name, part) in found or name not in known:
            continue
        found.add((name, part))
        for requirement in map(Requirement, known[name].requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": part}):
                needed = canonicalize_name(requirement.name)
                waiting += [(needed, each) for each in {"", *requirement.extras}]
    return {name for name, _ in found}


def check_extras() -> None:
    """Use each extra alone: what else is installed cannot be imported.

    Raises:
        subprocess.CalledProcessError: an extra lacks a library.
    """
    from twin.basics.optional import EXTRA_COMMAND, OPTIONAL_LIBRARIES

    modules = packages_distributions()
    for extra in ("", *PROJECT["optional-dependencies"]):
        command = EXTRA_COMMAND.format(extra)
        own = [name for name, (_, text) in OPTIONAL_LIBRARIES.items() if text.endswith(command)]
        if absent := [name for name in own if name not in modules]:
            print(f"   the extra {extra} is not tried: {', '.join(absent)} is not installed")
            continue
        if extra and not own and extra not in COMMANDS:
            continue
        there = brought(extra)
        missing = {
            module
            for module, owners in modules.items()
            if not there & {canonicalize_name(owner) for owner in owners}
        }
        print(f"   extra {extra or '(none)'}", flush=True)
        commands = ";".join(COMMANDS.get(extra, ()))
        with tempfile.TemporaryDirectory() as folder:
            words = (",".join(sorted(missing)), ",".join(own), commands)
            run(sys.executable, "-c", PROBE, *words, folder=Path(folder))


# The source archive.


def check_archive() -> None:
    """Build a wheel from the source archive: it has the files of the one that is built here.

    Raises:
        AssertionError: they differ.
        subprocess.CalledProcessError: one cannot be built.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        folder = Path(name)
        code = f"from setuptools import build_meta; print(build_meta.build_sdist({name!r}))"
        run(sys.executable, "-c", code)
        (archive,) = folder.glob("*.tar.gz")
        shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # of earlier builds
        for source, built in ((archive, "archived"), (ROOT, "direct")):
            build = ("wheel", "--quiet", "--no-deps", "--wheel-dir", folder / built, source)
            run(sys.executable, "-m", "pip", *build)
        files = []
        for built in ("archived", "direct"):
            (wheel,) = (folder / built).glob("*.whl")
            files.append({*zipfile.ZipFile(wheel).namelist()})
        assert files[0] == files[1], sorted(files[0] ^ files[1])
        assert any(file.endswith("stewart/platform.toml") for file in files[0])


# Other interpreters, and the oldest libraries.


def interpreter(version: str) -> str | None:
    """Return the command of a Python, of pyenv too; None where there is none."""
    own = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for command in sorted(own.glob(f"{version}.*/bin/python")):
        return str(command)
    return shutil.which(f"python{version}")


def lowest() -> Iterator[str]:
    """Yield the lower bound of every dependency, as a constraint of pip."""
    for extra in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for requirement in map(Requirement, extra):
            for bound in requirement.specifier:
                if bound.operator == ">=":
                    yield f"{requirement.name}=={bound.version}"


def quick_tests(python: str, folder: Path, *options: object) -> None:
    """Run the quick tests in an environment of their own.

    Raises:
        subprocess.CalledProcessError: the package cannot be installed, or a test fails.
    """
    own = folder / "bin" / "python"
    if not own.exists():
        run(python, "-m", "venv", folder)
    install = ("install", "--quiet", "--no-compile")
    try:
        run(own, "-m", "pip", *install, "--upgrade", "pip", "setuptools>=77")
        run(own, "-m", "pip", *install, *options, "--editable", f"{ROOT}[dev]")
    except subprocess.CalledProcessError as fault:
        if not MISSING.search(fault.stderr):
            raise
        print("   left out: a library cannot be downloaded")
        return
    tests = ("-m", "pytest", "-q", "-m", "quick", "--numprocesses", "2", "--dist", "worksteal")
    run(own, *tests, "-p", "no:cacheprovider")


def check_pythons() -> None:
    """Run the quick tests on other versions of Python, without PyBullet."""
    for version in OTHER_PYTHONS:
        command = interpreter(version)
        if command is None:
            print(f"   left out: Python {version} is not installed")
        elif sys.version.startswith(version):
            print(f"   left out: this is Python {version}, which all tests run on")
        else:
            print(f"   Python {version}", flush=True)
            quick_tests(command, FOLDER / version)


def check_bounds() -> None:
    """Run the quick tests with the oldest library that each lower bound allows."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    constraints = FOLDER / "lowest.txt"
    constraints.write_text("\n".join(sorted(set(lowest()))) + "\n", encoding="utf-8")
    quick_tests(sys.executable, FOLDER / "lowest", "--constraint", constraints)


CHECKS: dict[str, Callable[[], None]] = {
    "extras": check_extras,
    "archive": check_archive,
    "pythons": check_pythons,
    "bounds": check_bounds,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or CHECKS:
        print(f"-- {chosen}", flush=True)
        CHECKS[chosen]()
