"""TOML files: whatever they hold, one error names the file and the fault."""

import pytest

import twin
from twin.basics.toml import LARGEST_FILE, MAX_DEPTH, read_toml
from twin.errors import TwinError
from twin.machine.randomisation import as_randomisation
from twin.sweep import read_sweep

pytestmark = pytest.mark.quick

FAULTS = {
    "deep list": b"a = " + b"[" * 5000 + b"]" * 5000,
    "deep table": b"[" + b".".join([b"a"] * 5000) + b"]\nb = 1",
    "just too deep": b"a = " + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
    "integer": b"a = " + b"1" * 6000,
    "no TOML": b"a = [",
    "no text": b"\xff\xfe",
    "large": b"#" * (LARGEST_FILE + 1),
    "control": b'title = "a\\u001b[31m"',
    "control below": b'a = [{b = ["\\u202e"]}]',
    "control name": b'"\\u0007" = 3',
}


def test_faults_are_named(subtests, tmp_path):
    for name in FAULTS:
        for read in [read_toml, read_sweep, as_randomisation, twin.load]:
            with subtests.test(f"{name}, {read}"):
                file = tmp_path / "file.toml"
                file.write_bytes(FAULTS[name])
                with pytest.raises(TwinError, match=r"file\.toml") as caught:
                    read(str(file))
                assert len(str(caught.value)) < 500


def test_content_as_deep_as_allowed_is_read(tmp_path):
    file = tmp_path / "file.toml"
    file.write_text("a = " + "[" * (MAX_DEPTH - 2) + "1" + "]" * (MAX_DEPTH - 2))
    assert read_toml(file)


def test_places_that_are_none_are_refused(subtests):
    for path in [3, None, "", "a\0b", "/no/such.toml"]:
        with subtests.test(f"{path}"), pytest.raises(TwinError):
            read_toml(path)


def test_lines_and_letters_of_all_languages_are_texts(tmp_path):
    file = tmp_path / "file.toml"
    text = "\u0416\u00a0\u00b5m \U0001f600\ttab\nline"
    file.write_text(f'a = """{text}"""', encoding="utf-8")
    assert read_toml(file) == {"a": text}
