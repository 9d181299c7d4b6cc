"""Every example runs, and leaves the picture or the table that it promises."""

import ast
import re
from importlib import import_module

import numpy as np
import pytest
from package_walk import MODULES, ROOT
from PIL import Image
from scripts import run_script

FOLDER = ROOT / "examples"
EXAMPLES = {script.stem: script for script in sorted(FOLDER.glob("*.py"))}
assert {"first_simulation", "convergence", "clip"} <= set(EXAMPLES)

PICTURES = (".png", ".gif")

ROWS = re.findall(
    r"^\| \[`(\w+)\.py`\]\((\w+)\.py\) \|.*\| ([^|]*) \|$", (FOLDER / "README.md").read_text(), re.M
)
"""Script, link and output of every row of the table in the folder's README."""


def colours(picture):
    """Return the number of colours in the first image of a file."""
    with Image.open(picture) as image:
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    return len(np.unique(pixels, axis=0))


@pytest.mark.quick
def test_scripts_import_what_the_package_has(subtests):
    """Those of learning and the benchmarks run only where their libraries are installed."""
    for script in (*FOLDER.rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")):
        with subtests.test(str(script.relative_to(ROOT))):
            for node in ast.walk(ast.parse(script.read_text())):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twin."):
                    for each in node.names:
                        if f"{node.module}.{each.name}" not in MODULES:
                            assert hasattr(import_module(node.module or ""), each.name), each.name


@pytest.mark.pages
@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_ends_in_what_it_promises(name, tmp_path, capsys):
    run_script(EXAMPLES[name], tmp_path)
    promised = {script: output for script, _, output in ROWS}[name]
    printed = capsys.readouterr().out
    written = sorted(tmp_path.iterdir())
    assert {file.name for file in written} == set(re.findall(r"`([\w.]+)`", promised))
    for file in written:
        assert file.suffix in PICTURES
        assert colours(file) > 20, f"{file.name} is blank"
        assert str(file) in printed.replace("\n", "")
    if "table" in promised:
        assert len(re.findall(r"^ .*\d", printed, re.M)) > 2, printed
    assert "nan" not in printed
    assert "table" in promised or written


def test_readme_of_the_examples_lists_each_once():
    assert sorted(script for script, _, _ in ROWS) == sorted(EXAMPLES)
    assert all(script == link for script, link, _ in ROWS)
