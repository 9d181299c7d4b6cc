"""The command `view`: what it takes, what it refuses, and that its pages are served and end."""

import re
import urllib.request
from contextlib import nullcontext

import pytest
from console import console

import twin

pytest.importorskip("viser")

from twin.cli import view as commands


def run(line, *more):
    """Run the command in this process."""
    return console(f"view {line}", *more, code=None)


class Visit:
    """Somebody who fetches the page as soon as it is served, and then interrupts the command.

    Attributes:
        printed: lines of the command.
        page: what was served.
    """

    def __init__(self):
        self.printed = []
        self.page = ""

    def note(self, text="", bold=False):
        """Take a line of the command."""
        self.printed.append(text)

    def requested(self):
        """Fetch the page, then interrupt."""
        address = re.search(r"http://\S+", " ".join(self.printed))
        assert address
        with urllib.request.urlopen(address[0], timeout=20.0) as answer:
            self.page = answer.read().decode()
        return True


@pytest.fixture
def visit(monkeypatch):
    """Somebody who visits whatever the command shows."""
    visitor = Visit()
    # The command waits for somebody to end it.
    monkeypatch.setattr(commands, "interruption", lambda: nullcontext(visitor.requested))
    monkeypatch.setattr(commands, "line", visitor.note)
    return visitor


def test_what_cannot_be_shown_is_refused(subtests):
    for line, told in [
        ("", "machine: "),
        ("nowhere", "no machine called"),
        ("stewart --policy zero", "policy: "),
        ("stewart --axis yaw", "axis: shapes a motion"),
        ("--replay a.npz --environment twin/BallBalance-v0", "replay: "),
        ("--replay a.npz --controller lqr", "replay: "),
        ("--replay a.npz", "replay: "),
        ("--environment twin/BallBalance-v0 --compare bullet", "environment: "),
        ("--environment twin/Nothing-v0", "environment: "),
        ("--environment twin/BallBalance-v0 --motion sine", "motion: "),
        ("stewart --controller iff", "does not swing"),
        ("stewart --no-browser --host 256.0.0.1", "host: "),
    ]:
        with subtests.test(line):
            result = run(line)
            assert result.exit_code == 2, result.output
            assert "Traceback" not in result.output
            assert told in result.stderr
            assert len(result.stderr.strip().splitlines()) == 1


def check(visit, begins, *arguments):
    """Run the command until its page was fetched, and look at what it has printed."""
    result = run(*arguments, "--no-browser", "--port", 0)
    assert result.exit_code == 0, result.output
    assert "<title>" in visit.page
    assert visit.printed[0].startswith(begins)
    assert visit.printed[-1] == "ended"


def test_a_machine_is_shown(visit):
    options = ("--engine", "analytic", "--motion", "sine")
    check(
        visit,
        "stewart \u00b7 ideal \u00b7 analytic \u00b7 cascade: http://127.0.0.1:",
        "stewart",
        *options,
    )


def test_a_recording_is_shown(visit, tmp_path):
    file = twin.load("srspm").simulate(0.05).save(tmp_path / "run.npz")
    check(visit, "replay \u00b7 srspm \u00b7 analytic: ", "--replay", file)


def test_an_environment_is_shown(visit):
    options = ("--environment", "twin/BallBalance-v0", "--policy", "random")
    check(visit, "BallBalance-v0 \u00b7 stewart \u00b7 random: ", *options)
