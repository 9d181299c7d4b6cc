"""What the README shows works: its Python blocks run, its `twin` commands succeed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import twin

README = Path(twin.__file__).resolve().parent.parent / "README.md"
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(README.read_text())
PYTHON = [text for language, text in BLOCKS if language == "python"]
CONSOLE = [text for language, text in BLOCKS if language in ("console", "bash", "sh", "shell")]


def commands() -> list[str]:
    """Return the command lines that call the package; `make` and `pip` are not run here."""
    lines = [line.removeprefix("$ ").strip() for block in CONSOLE for line in block.splitlines()]
    return [line for line in lines if line.split()[:1] == ["twin"] or " -m twin" in line]


def run(command: list[str], folder: Path) -> str:
    """Run a command in a folder of its own, with this interpreter's scripts first."""
    paths = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    environment = {**os.environ, "PATH": os.pathsep.join(paths)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_readme_has_blocks() -> None:
    assert PYTHON, "no Python block was found"
    assert CONSOLE, "no console block was found"


@pytest.mark.slow
def test_python_blocks_run_one_after_the_other(tmp_path: Path) -> None:
    script = tmp_path / "readme.py"
    script.write_text("\n".join(PYTHON))
    run([sys.executable, str(script)], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("line", commands())
def test_commands_succeed(line: str, tmp_path: Path) -> None:
    words = shlex.split(line, comments=True)
    for word in words:
        if word.endswith(".toml"):
            # The reader is told to begin with a copy of this one.
            shutil.copy(README.parent / "assets/stewart/platform.toml", tmp_path / word)
    run(words, tmp_path)


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", README.read_text())
    missing = [link for link in links if "://" not in link and not (README.parent / link).exists()]
    assert links, "no link was found"
    assert not missing
