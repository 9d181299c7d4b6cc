"""What the README and the guide show works: Python blocks run, `twin` commands succeed."""

import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from console import console

import twin

ROOT = Path(twin.__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = (README, *(ROOT / "docs" / f"{name}.md" for name in ("getting_started", "your_platform")))
FEWER = {"render": ("--pixels", "160x120"), "evaluate": ("--episodes", "1")}
"""Command -> options that leave its work as it is, and make it less."""

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page, *languages):
    """Return the fenced blocks of a page in any of the languages."""
    return [text for language, text in FENCE.findall(page.read_text()) if language in languages]


def commands(page):
    """Return the command lines that call the package; `make` and `pip` are not run here."""
    found = [text.replace("\\\n", "") for text in blocks(page, "console", "bash", "sh", "shell")]
    lines = [line.removeprefix("$ ").strip() for block in found for line in block.splitlines()]
    return [line for line in lines if line.split()[:1] == ["twin"] or " -m twin" in line]


def surroundings():
    """Return the environment with this interpreter's scripts first."""
    paths = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return {**os.environ, "PATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}


def run(command, folder):
    """Run a command in a folder of its own, in a process of its own."""
    done = subprocess.run(
        command, cwd=folder, env=surroundings(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"


def call(command):
    """Run a command in this process, which has imported all libraries."""
    console(*command[1:])


def view(command, folder):
    """Run a command that shows a page, look at the page, and end it as Ctrl-C does."""
    server = subprocess.Popen(
        [*command, "--no-browser", "--port", "0"],
        cwd=folder,
        env=surroundings(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address, f"{shlex.join(command)} tells no address"
        with urlopen(address[0], timeout=60) as page:
            assert page.status == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 0
    finally:
        server.kill()
        server.wait()


@pytest.mark.pages
@pytest.mark.slow
def test_python_blocks_run_one_after_the_other(tmp_path, monkeypatch):
    found = blocks(README, "python")
    assert found, "no Python block was found"
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "readme.py"
    script.write_text("\n".join(found))
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.pages
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_succeed_one_after_the_other(page, tmp_path, monkeypatch):
    lines = commands(page)
    assert lines, "no command was found"
    monkeypatch.chdir(tmp_path)
    split = [shlex.split(line, comments=True) for line in lines]
    alone = next(command for command in split if command[1] == "info")
    views = [command for command in split if command[1] == "view"]
    for command in split:
        if command in views:
            # The others show less of the same: a page of its own takes two seconds.
            if len(command) == max(map(len, views)):
                view(command, tmp_path)
        elif command is alone and page is README:
            run(command, tmp_path)
        else:
            call([*command, *FEWER.get(command[1], ())])
