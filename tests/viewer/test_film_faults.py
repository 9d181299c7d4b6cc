"""Films where the program that codes them fails: an error that says why, and the old file stays."""

import sys

import numpy as np
import pytest

from twin.errors import StateError
from twin.viewer.camera import write_images

pytestmark = pytest.mark.pages

PROGRAM = f"""#!{sys.executable}
import pathlib, sys
{{}}
"""

FAILURES = {
    "at the end": (
        # imageio tries encoders with the output "-".
        "sys.stdin.buffer.read(); "
        "sys.argv[-1] == '-' or pathlib.Path(sys.argv[-1]).write_bytes(b'half'); "
        "sys.exit('No space left on device')"
    ),
    "at the start": "sys.exit('Unknown encoder')",
    "in the middle": "sys.stdin.buffer.read(10); sys.exit('broken')",
    "without a file": "sys.stdin.buffer.read()",
}
REASONS = {
    "at the end": "No space left on device",
    "at the start": "Unknown encoder",
    "in the middle": "broken",
    "without a file": "",
}


def test_a_failure_is_an_error_and_the_old_film_stays(subtests, tmp_path, monkeypatch, capfd):
    for when in FAILURES:
        with subtests.test(f"{when}"):
            program = tmp_path / "ffmpeg"
            program.write_text(PROGRAM.format(FAILURES[when]))
            program.chmod(0o755)
            monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
            film = tmp_path / "film.mp4"
            film.write_bytes(b"old")
            pictures = [np.zeros((480, 640, 3), np.uint8)] * 5
            with pytest.raises(StateError, match="ffmpeg could not write"):
                write_images(film, pictures, (640, 480), 30.0)
            assert REASONS[when] in capfd.readouterr().err
            assert film.read_bytes() == b"old"
            assert {each.name for each in tmp_path.iterdir()} == {"ffmpeg", "film.mp4"}
