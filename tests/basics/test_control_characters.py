"""Control characters: none enters a machine, and none of a file reaches a terminal."""

from xml.etree import ElementTree

import pytest
from console import console
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import twin
from twin.basics.toml import CONTROL_CHARACTERS, visible
from twin.engines.fmu.description import Unit, description
from twin.machine import MachineParameters

pytestmark = pytest.mark.quick


@pytest.mark.slow
@given(st.text())
def test_a_visible_text_has_no_control_characters(text):
    assert not CONTROL_CHARACTERS.search(visible(text))
    assert (visible(text) == text) == (not CONTROL_CHARACTERS.search(text))


@given(st.text())
def test_what_a_title_may_hold_is_well_formed_xml(text):
    if not CONTROL_CHARACTERS.search(text):
        root = ElementTree.fromstring(description(Unit("m", "0", text, 1e-3), (), 3))
        assert root.get("description", "").split() == text.split() or not text.isprintable()


def test_no_machine_has_control_characters(subtests):
    for text in ["a\x1b[31m", "a\u202eb", "a\x00", "a\ufffe"]:
        for field in ["title", "source"]:
            with subtests.test(f"{text}, {field}"):
                content = twin.load("stewart").parameters.model_dump()
                with pytest.raises(ValidationError, match=rf"{field}\n.*control characters"):
                    MachineParameters.model_validate(content | {field: text})


def test_a_title_is_one_line():
    content = twin.load("stewart").parameters.model_dump()
    MachineParameters.model_validate(content | {"source": "two\nlines"})
    with pytest.raises(ValidationError, match=r"title\n.*ends of lines"):
        MachineParameters.model_validate(content | {"title": "two\nlines"})


def test_commands_write_control_characters_of_files_as_escapes(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,a\x1bc,b\n0,1,2\n1,2,3\n")
    for words in (["logs", str(path)], ["logs", str(tmp_path / "\x1b.csv")]):
        output = console(*words, code=None).output
        assert "\\x1b" in output
        assert "\x1b" not in output
