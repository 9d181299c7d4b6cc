"""A real browser for the tests of the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from browser_rig import SMALL, Visitor, browser_command, open_browser
from playwright.sync_api import Browser

NEEDED = "TWIN_TESTS_NEED_CHROMIUM"
"""Environment variable: set where the browser must not be missing."""

OWN_HOSTS = {"127.0.0.1", "localhost"}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a file of tests: it takes a second to start."""
    command = browser_command()
    if command is None:
        assert not os.environ.get(NEEDED), "Chromium is missing: apt-get install chromium"
        pytest.skip("Chromium is not installed")
    with open_browser(command) as browser:
        yield browser


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visitor]]:
    """Open windows: `visit(url, size=TABLET)`; none may meet an error or ask another host."""
    visitors: list[Visitor] = []

    def open_window(url: str, size: tuple[int, int] = SMALL) -> Visitor:
        visitors.append(Visitor(chromium, size))
        return visitors[-1].open(url)

    yield open_window
    for visitor in visitors:
        visitor.close()
    for visitor in visitors:
        assert not visitor.problems
        assert visitor.hosts <= OWN_HOSTS
