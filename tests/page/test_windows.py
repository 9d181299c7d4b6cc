"""In a large window and on a phone: all text can be read, and nothing lies over the machine."""

import pytest
from browser_rig import SCENE
from live_rig import Live
from tolerance import assert_within

SMALLEST = 11.0
"""[pixels] of letters."""

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}

SMALL_TEXTS = """least => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; node = walker.nextNode();) {
        const holder = node.parentElement;
        if (!node.data.trim() || !holder.checkVisibility({visibilityProperty: true})) continue;
        if (holder.closest("script, style")) continue;
        const size = parseFloat(getComputedStyle(holder).fontSize);
        if (size < least) found.push(`${node.data.trim()}: ${size}`);
    }
    return found;
}"""
"""Texts that are seen with letters smaller than a size [pixels]."""


@pytest.fixture(scope="module")
def live():
    """A machine that runs behind a page."""
    opened = Live("stewart")
    yield opened
    opened.close()


def box(part):
    """Return where a part of the page is [pixels]."""
    found = part.bounding_box()
    assert found is not None
    return found


def covers(over, x, y):
    """Return whether a place lies within a box."""
    within = (x - over["x"], y - over["y"])
    return 0.0 <= within[0] <= over["width"] and 0.0 <= within[1] <= over["height"]


@pytest.mark.parametrize("window", SIZES)
def test_texts_are_legible_and_messages_lie_below_the_machine(live, visit, window):
    visitor = visit(live.url, SIZES[window])
    visitor.page.locator(".twin-strip").wait_for()
    message = visitor.page.get_by_role("alert").first
    message.wait_for()
    visitor.page.wait_for_timeout(2000.0)
    camera = next(iter(live.page.server.get_clients().values())).camera
    scene, seen = box(visitor.page.locator(SCENE)), box(message)
    # The camera looks at the middle of the machine.
    assert_within(camera.look_at[:2], live.session.platform.home[:2], 0.3)
    middle = scene["x"] + 0.5 * scene["width"], scene["y"] + 0.5 * scene["height"]
    assert not covers(seen, *middle)
    assert seen["y"] > middle[1]
    assert covers(scene, *middle)
    for tab in visitor.page.get_by_role("tab").all():
        tab.press("Enter")
        visitor.page.wait_for_timeout(300.0)
        assert not visitor.page.evaluate(SMALL_TEXTS, SMALLEST), tab.inner_text()


def test_scroll_bars_lie_beside_the_controls(live, visit):
    """At 1280 by 800 the tab Drive is longer than its column."""
    visitor = visit(live.url, SIZES["desktop"])
    bar = visitor.page.locator(".mantine-ScrollArea-scrollbar[data-orientation=vertical]").first
    bar.wait_for()
    left = box(bar)["x"]
    strip, home = (
        visitor.page.locator(".twin-strip"),
        visitor.page.get_by_role("button", name="Home"),
    )
    for part in (strip.locator("> :nth-child(7)"), home, visitor.input("z [mm]")):
        edge = box(part)
        assert edge["x"] + edge["width"] <= left
    strip.get_by_text("at rest").wait_for()
    visitor.wait(lambda: strip.get_by_text("%").count() == 14, "12 shares and two margins")
    assert box(strip)["y"] + box(strip)["height"] < 250.0, "seen on every tab, without scrolling"
