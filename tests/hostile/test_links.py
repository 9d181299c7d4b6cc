"""A few of the inputs of links, and commands that are killed at a few moments."""

import signal
from random import Random

import pytest

from hostile.links import QUICK, SIGNALS, killed
from hostile.outcome import outcome


@pytest.mark.slow
@pytest.mark.quick
@pytest.mark.parametrize("name", sorted(QUICK))
def test_links_that_go_wrong_end_in_no_fault(name):
    random = Random("links")
    QUICK[name](Random("0"))  # compiles what is compiled
    found = [outcome(lambda: QUICK[name](random)) for _ in range(8)]
    assert not [each.kind for each in found if each.is_fault]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["emulate", "shadow"])
@pytest.mark.parametrize("number", SIGNALS)
def test_what_a_killed_command_has_recorded_is_kept(command, number, tmp_path):
    """All but the last second, by the numbers of the samples; all, where it may end itself."""
    random = Random(f"{command} {number}")
    for k in range(2):
        folder = tmp_path / str(k)
        folder.mkdir()
        found = killed(command, number, random.randint(1, 1500), folder)
        assert found.lost <= (1.0 if number == signal.SIGKILL else 0.0), found
        left = {each.name for each in folder.glob("run*")}
        assert left == ({"run.csv.part"} if number == signal.SIGKILL else {"run.csv"})
