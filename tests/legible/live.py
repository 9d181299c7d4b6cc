"""Faults of the page of a live machine: every tab, in windows of several sizes, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from browser_rig import TABLET, Visitor
from live_rig import Live
from playwright.sync_api import Browser

from legible.check import layout_faults, reading_faults

PHONE = (390, 844)

WINDOWS = ((PHONE, "light"), (TABLET, "dark"), ((1280, 800), "light"), ((1920, 1080), "dark"))
"""Sizes [pixels] and schemes."""

MACHINE = "stewart"


def faults_of_tab(visitor: Visitor, tab: str) -> list[str]:
    """Return the faults of a tab of the page that is seen in a window."""
    # By a key: software takes seconds to draw a large scene under the pointer.
    handle = visitor.page.get_by_role("tab", name=tab, exact=True)
    handle.press("Enter")
    visitor.page.wait_for_timeout(300.0)
    assert handle.get_attribute("aria-selected") == "true"
    return [*layout_faults(visitor.page), *reading_faults(visitor.page)]


def live_faults(browser: Browser, show: Callable[[str], object]) -> Iterator[str]:
    """Yield the faults of the page of a machine; `show` is called for every window."""
    live = Live(MACHINE)
    try:
        for size, scheme in WINDOWS:
            show(f"live page, {size[0]} wide")
            visitor = Visitor(browser, size)
            visitor.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            visitor.open(live.url)
            visitor.page.locator(".twin-strip").wait_for()
            for tab in visitor.page.get_by_role("tab").all_inner_texts():
                for fault in faults_of_tab(visitor, tab):
                    yield f"live page, {size[0]} wide, {scheme}, {tab}: {fault}"
            yield from (f"live page, {size[0]} wide: {text}" for text in visitor.problems)
            visitor.close()
    finally:
        live.close()
