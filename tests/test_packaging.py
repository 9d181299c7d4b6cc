"""What is built is complete: every file of the package is in it, every bound is there."""

import re
import tomllib
from importlib.metadata import version
from importlib.util import find_spec

import pytest
from package_walk import FOLDERS, MODULES, ROOT

project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]

REQUIREMENTS = [
    *project["dependencies"],
    *(text for extra in project["optional-dependencies"].values() for text in extra),
]


WITH_DATA = ("twin", "twin.assets", "twin.validation")
"""Packages that must have data files, so that the search for them is known to find some."""

OPTIONAL = ("ray", "torch", "stable-baselines3", "tensorboard", "matplotlib", "numba-cuda")
"""Libraries of extras that the development environment does without."""


@pytest.mark.parametrize("package", FOLDERS)
def test_every_data_file_is_shipped(package):
    shipped = {
        file
        for name, patterns in settings["package-data"].items()
        for pattern in patterns
        for file in MODULES[name].parent.glob(pattern)
    }
    folder = MODULES[package].parent
    data = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".py"]
    data = [file for file in data if "__pycache__" not in file.parts]
    assert data or package not in WITH_DATA, f"{package} has no data file"
    assert not [file for file in data if file not in shipped]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_dependencies_have_a_lower_bound_that_is_installed(requirement):
    text = requirement.partition(";")[0].strip()
    match = re.fullmatch(r"(?P<name>[\w-]+)(\[\w+\])?>=(?P<bound>[\d.]+)(,<[\d.]+)?", text)
    if match is None:
        assert text.startswith(f"{project['name']}["), f"{text} has no lower bound"
        return
    if match["name"] in OPTIONAL and find_spec(match["name"].replace("-", "_")) is None:
        pytest.skip(f"{match['name']} is not installed here")
    have, bound = (
        tuple(int(part) for part in re.findall(r"\d+", value)[:3])
        for value in (version(match["name"]), match["bound"])
    )
    assert have >= bound


def test_source_archive_takes_what_is_no_package():
    manifest = (ROOT / "MANIFEST.in").read_text()
    packages = {"twin", "assets", "envs", "validation"}
    folders = {file.parent.name for file in ROOT.glob("[!.]*/*.py")} | {"docs"}
    for folder in folders - packages - {"build"}:
        assert f"graft {folder}\n" in manifest
    for file in ("CHANGELOG.md", "Makefile"):
        assert file in manifest


LEFT_OUT = re.compile(r'importorskip\(\s*"(torch|torchrl|stable_baselines3|ray|numba_cuda)\b')
"""Of tests that need libraries which the development environment does without."""


@pytest.mark.quick
def test_what_make_test_skips_is_run_by_make_test_rl():
    recipe = (ROOT / "Makefile").read_text().partition("\ntest-rl:")[2].partition("\n\n")[0]
    run = {file for word in re.findall(r"tests/\S+", recipe) for file in ROOT.glob(word)}
    skipped = {
        file for file in (ROOT / "tests").rglob("test_*.py") if LEFT_OUT.search(file.read_text())
    }
    assert len(skipped) > 5 and skipped <= run
