"""Optional libraries: a missing one is named with the command that installs it."""

import re
import sys
import tomllib

import pytest
from package_walk import MODULES, ROOT

from twin.basics.optional import OPTIONAL_LIBRARIES, optional
from twin.errors import MissingDependencyError

pytestmark = pytest.mark.quick

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_a_missing_library_is_named_with_its_command(monkeypatch):
    for library, (purpose, command) in OPTIONAL_LIBRARIES.items():
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(MissingDependencyError) as caught:
            optional(f"{library}.part")
        assert caught.value.library == library
        assert str(caught.value).startswith(f"{purpose} needs {library},")
        assert str(caught.value).endswith(command)
        with pytest.raises(MissingDependencyError, match="Loop shaping needs"):
            optional(library, "Loop shaping")


def test_every_extra_that_a_command_names_exists():
    found = {
        extra
        for _, command in OPTIONAL_LIBRARIES.values()
        for extra in re.findall(r"\[(\w+)\]", command)
    }
    assert found and found <= set(EXTRAS)


def test_every_library_asked_for_is_in_the_table():
    sources = [file.read_text() for file in MODULES.values()]
    named = {name for text in sources for name in re.findall(r'\boptional\(\s*"(\w+)', text)}
    assert "plotly" in named and named <= set(OPTIONAL_LIBRARIES)


def test_a_fault_inside_a_library_is_shown(subtests, tmp_path, monkeypatch):
    for source, cause in [
        ("import no_such_part", "No module named 'no_such_part'"),
        ("from os import no_such_name", "cannot import name 'no_such_name'"),
        ("raise ValueError('numpy.dtype size changed')", "ValueError: numpy.dtype size changed"),
    ]:
        with subtests.test(f"{source}"):
            (tmp_path / "minari.py").write_text(source)
            monkeypatch.syspath_prepend(tmp_path)
            monkeypatch.delitem(sys.modules, "minari", raising=False)
            with pytest.raises(MissingDependencyError, match="fails when imported") as caught:
                optional("minari")
            assert cause in str(caught.value) and cause in caught.value.cause
            assert "not installed" not in str(caught.value)
            assert caught.value.__cause__ is not None
