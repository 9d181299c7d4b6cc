"""Draw the pictures of the page in docs/viewer.md, with Chromium: `PYTHONPATH=tests`."""

from __future__ import annotations

from pathlib import Path

from browser_rig import TABLET, Visitor, browser_command, open_browser
from live_rig import Live
from playwright.sync_api import Browser

from twin.motion.specification import MotionSpecification

FOLDER = Path(__file__).parent

WIDE = (1280, 800)

LONG = 4000.0
"""[ms] until charts are filled."""


def opened(browser: Browser, live: Live, size: tuple[int, int]) -> Visitor:
    """Return a window without messages."""
    visitor = Visitor(browser, size).open(live.url)
    visitor.dismiss("Software WebGL rendering detected")
    visitor.page.locator(".uplot").first.wait_for()
    return visitor


def keep(visitor: Visitor, name: str) -> None:
    """Write what is seen."""
    visitor.page.wait_for_timeout(LONG)
    visitor.picture(FOLDER / f"viewer_{name}.png")


def draw(browser: Browser, live: Live) -> None:
    """Draw all pictures."""
    sine = MotionSpecification("sine", "z", 0.03, 0.5, 60.0).motion_of(live.session.platform)
    assert sine is not None
    live.ask(lambda: live.session.play(sine, loop=True))
    for name, size in (("drive", WIDE), ("tablet", TABLET)):
        visitor = opened(browser, live, size)
        keep(visitor, name)
        visitor.close()
    live.begin_anew()
    visitor = opened(browser, live, WIDE)
    visitor.turn_to("Compare")
    visitor.choose("Second engine", "mujoco")
    visitor.tick("MuJoCo defaults")
    visitor.choose("Difference drawn", "100 times")
    live.ask(lambda: live.session.configure(engine="analytic"))
    live.ask(lambda: live.session.play(sine, loop=True))
    keep(visitor, "compare")
    live.begin_anew()
    visitor.turn_to("Push")
    live.ask(lambda: live.session.disturb(force=(8e3, 0.0, 0.0), duration=0.4))
    visitor.page.get_by_role("button", name="Reset and run").wait_for()
    keep(visitor, "stopped")
    visitor.close()


if __name__ == "__main__":
    command = browser_command()
    assert command is not None, "Chromium is missing: apt install chromium"
    shown = Live("stewart")
    try:
        with open_browser(command) as chromium:
            draw(chromium, shown)
    finally:
        shown.close()
