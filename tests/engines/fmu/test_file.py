"""Files of units: valid, whole, of the system's functions alone, declared as the standard says."""

import re
import subprocess
import zipfile
from functools import cache
from pathlib import Path

import fmpy
import pytest
from console import console
from fmpy.validation import validate_fmu
from package_walk import ROOT
from refusals import assert_all_refused

import twin
from twin.engines.fmu import unit as library
from twin.engines.fmu.description import unit_blocks
from twin.engines.fmu.unit import compiler, machine_header, write_unit
from twin.errors import MissingDependencyError, StateError

pytestmark = pytest.mark.quick


@pytest.mark.slow
def test_is_valid(unit):
    assert validate_fmu(str(unit.file)) == []
    n, springs = unit.platform.n_actuators, unit.platform.n_deflections
    assert len(unit.outputs) == 13 + 2 * springs + 3 * n
    assert len(unit.starts) == n + 6 + 10 + 13 + 2 * springs


@pytest.mark.slow
def test_needs_nothing_but_the_system(stewart_unit):
    """No Python, no numba: functions of C and of its mathematics, and the interface alone."""
    listed = subprocess.run(
        ["nm", "--dynamic", stewart_unit.library], capture_output=True, text=True, check=True
    )
    symbols = [line.split()[-2:] for line in listed.stdout.splitlines()]
    needed = {name.partition("@")[0] for kind, name in symbols if kind == "U"}
    shown = [name for kind, name in symbols if kind in "TD"]
    memory = {"calloc", "free", "malloc", "memcmp", "memcpy", "memset", "strcmp"}
    assert needed <= memory | {"ceil", "fmax", "snprintf", "sqrt", "vsnprintf", "__stack_chk_fail"}
    assert len(shown) > 70
    assert all(name.startswith("fmi3") for name in shown)


@cache
def header(fmi):
    """Return the header of a machine."""
    platform = twin.load("stewart")
    return machine_header(platform, unit_blocks(platform), 1e-3, "token", fmi)


@pytest.mark.parametrize("fmi", [2, 3])
def test_functions_are_declared_as_the_standard_declares_them(fmi, tmp_path):
    (tmp_path / "machine.h").write_text(header(fmi))
    standard = Path(fmpy.__file__).with_name("c-code")
    warned = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-sign-compare"]
    command = [*compiler(), "-std=c11", "-fsyntax-only", *warned, "-DSTANDARD_HEADERS"]
    subprocess.run([*command, f"-I{standard}", f"-I{tmp_path}", library.UNIT_SOURCE], check=True)


@pytest.mark.every_kind
def test_page_lists_every_variable(unit):
    text = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    table = text[text.index("### Variables") : text.index("### Example")]
    for name in [*unit.starts, *unit.outputs]:
        stem, _, last = re.sub(r"\[\d+\]", "", name).rpartition(".")
        assert re.search(rf"`{stem or last}[.\[]", table), name


def test_files_are_whole_and_the_same(stewart_unit, tmp_path, monkeypatch):
    again = write_unit(stewart_unit.platform, tmp_path)
    old = again.read_bytes()
    assert old == stewart_unit.file.read_bytes()
    assert zipfile.ZipFile(again).testzip() is None
    monkeypatch.setenv("CC", "false")
    with pytest.raises(StateError, match="false cannot compile the unit"):
        write_unit(stewart_unit.platform, tmp_path)
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingDependencyError, match="gcc"):
        write_unit(stewart_unit.platform, tmp_path)
    assert again.read_bytes() == old
    assert list(tmp_path.iterdir()) == [again]


def test_wrong_options_are_named(tmp_path):
    assert_all_refused(
        lambda options: write_unit(twin.load("stewart"), tmp_path, **options),
        [
            ({"fmi": 1}, "fmi"),
            ({"fmi": 3.0}, "fmi"),
            ({"timestep": 0.0}, "timestep"),
            ({"timestep": "x"}, "timestep"),
        ],
    )


def test_command(tmp_path):
    words = ["export", "stewart", "--format", "fmu", "--out", str(tmp_path), "--fmi", "2"]
    console(*words, "--timestep", "0.5 ms")
    described = fmpy.read_model_description(str(tmp_path / "stewart.fmu"))
    assert described.fmiVersion == "2.0"
    assert described.variableNamingConvention == "structured"
    console("export", "stewart", "--fmi", "2", "--out", tmp_path, code=2)
