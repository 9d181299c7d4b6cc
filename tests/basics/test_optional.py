"""Optional libraries: a missing one is named with the command that installs it."""

from __future__ import annotations

import re
import sys
import tomllib

import pytest
from package_walk import MODULES, ROOT

from twin.basics.optional import LIBRARIES, optional
from twin.errors import MissingDependencyError

pytestmark = pytest.mark.quick

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for library, (purpose, command) in LIBRARIES.items():
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(MissingDependencyError) as caught:
            optional(f"{library}.part")
        assert caught.value.library == library
        assert str(caught.value).startswith(f"{purpose} needs {library},")
        assert str(caught.value).endswith(command)
        with pytest.raises(MissingDependencyError, match="Loop shaping needs"):
            optional(library, "Loop shaping")


def test_every_extra_that_a_command_names_exists() -> None:
    found = {
        extra for _, command in LIBRARIES.values() for extra in re.findall(r"\[(\w+)\]", command)
    }
    assert found and found <= set(EXTRAS)


def test_every_library_asked_for_is_in_the_table() -> None:
    sources = [file.read_text() for file in MODULES.values()]
    named = {name for text in sources for name in re.findall(r'\boptional\(\s*"(\w+)', text)}
    assert "plotly" in named and named <= set(LIBRARIES)
