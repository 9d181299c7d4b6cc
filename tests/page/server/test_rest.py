"""A page at rest: nothing is sent to an open page while its run is paused."""

import pytest
from live_rig import Live
from viser_rig import message_count

QUIET = 5.0
"""[s] in which nothing may be sent."""


@pytest.fixture
def live():
    """A machine that runs behind a page."""
    opened = Live("stewart")
    yield opened
    opened.close()


def sent(live):
    """Return how many messages the server has put out so far."""
    return message_count(live.page.server)


@pytest.mark.slow
def test_nothing_is_sent_while_a_run_is_paused(live, visit):
    visitor = visit(live.url)
    visitor.page.locator(".twin-strip").get_by_text("at rest").wait_for()
    before = sent(live)
    visitor.wait(lambda: sent(live) > before + 10, "a run that goes on is shown")
    visitor.press("Pause")
    visitor.wait(lambda: live.page.runner.paused, "it is paused")

    def is_quiet():
        before = sent(live)
        visitor.page.wait_for_timeout(1e3 * QUIET)
        return sent(live) == before

    # The page is laid out, and limits are judged, within the first seconds.
    visitor.wait(is_quiet, f"{QUIET} s without a message")
    assert is_quiet()
