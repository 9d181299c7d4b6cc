"""A real browser for the tests of the page."""

import os
from time import monotonic

import pytest
from browser_rig import SMALL, Visitor, browser_command, open_browser

NEEDED = "TWIN_TESTS_NEED_CHROMIUM"
"""Environment variable: set where the browser must not be missing."""

OWN_HOSTS = {"127.0.0.1", "localhost"}


@pytest.fixture(scope="module")
def chromium():
    """One browser for a file of tests: it takes a second to start."""
    command = browser_command()
    if command is None:
        assert not os.environ.get(NEEDED), "Chromium is missing: apt-get install chromium"
        pytest.skip("Chromium is not installed")
    with open_browser(command) as browser:
        yield browser


@pytest.fixture
def later(constants):
    """Let the clock of a module of the page be ahead by seconds: `later(module, seconds)`."""

    def set_ahead(module, seconds):
        constants(f"twin.page.{module}", monotonic=lambda: monotonic() + seconds)

    return set_ahead


@pytest.fixture
def visit(chromium):
    """Open windows: `visit(url, size=TABLET)`; none may meet an error or ask another host."""
    visitors = []

    def open_window(url, size=SMALL):
        visitors.append(Visitor(chromium, size))
        return visitors[-1].open(url)

    yield open_window
    for visitor in visitors:
        visitor.close()
    for visitor in visitors:
        assert not visitor.problems
        assert visitor.hosts <= OWN_HOSTS
