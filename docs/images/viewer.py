"""Draw the pictures of the page in docs/viewer.md, with Chromium."""

from __future__ import annotations

from browser_rig import SLOW_DISPLAY, TABLET, Visitor, browser_command, open_browser
from folder import picture_folder
from live_rig import Live
from playwright.sync_api import Browser

from twin.motion.specification import MotionSpecification

WIDE = (1280, 800)

FILLED = 12.0
"""[s] of the run before a picture: its charts are full."""

LONG = 1500.0
"""[ms] until the page has drawn it."""

ARE_JUDGED = """tasks => tasks.every(task => {
  const heads = [...document.querySelectorAll(".twin-strip span")];
  const verdict = heads.find(head => head.textContent === task)?.nextElementSibling;
  return verdict && verdict.textContent.trim() !== "\u2013";
})"""
"""Whether lines of the state have verdicts; at once, as they are written anew all the time."""


def opened(browser: Browser, live: Live, size: tuple[int, int]) -> Visitor:
    """Return a window without messages."""
    visitor = Visitor(browser, size, SLOW_DISPLAY).open(live.url)
    visitor.dismiss("Software WebGL rendering detected")
    visitor.page.locator(".uplot").first.wait_for()
    return visitor


def swing(live: Live) -> None:
    """Let the machine move up and down, and have done so for a while."""
    sine = MotionSpecification("sine", "z", 0.03, 0.5, 60.0).motion_of(live.session.platform)
    assert sine is not None

    def begin() -> None:
        live.session.play(sine, loop=True)
        live.session.advance(FILLED)

    live.ask(begin)


def keep(visitor: Visitor, name: str) -> None:
    """Write what is seen with its verdict, without hints of what the pointer rests on."""
    # While a motion is played, rest is not judged.
    visitor.wait(lambda: visitor.page.evaluate(ARE_JUDGED, ["motion"]), "the motion is judged")
    visitor.page.mouse.move(640.0, 100.0)
    visitor.page.wait_for_timeout(LONG)
    visitor.picture(picture_folder() / f"viewer_{name}.png")


def draw(browser: Browser, live: Live) -> None:
    """Draw all pictures."""
    swing(live)
    visitor = opened(browser, live, TABLET)
    visitor.wait_laid_out()
    keep(visitor, "tablet")
    visitor.close()
    visitor = opened(browser, live, WIDE)
    visitor.enter("Amplitude [mm]", 30)
    visitor.enter("Frequency [Hz]", 0.5)
    visitor.enter("Duration [s]", 60)
    keep(visitor, "drive")
    visitor.turn_to("Push")
    visitor.enter("Force [N]", 5000)
    visitor.press("Push")
    visitor.page.get_by_role("button", name="Reset and run").wait_for()
    keep(visitor, "stopped")
    live.begin_anew()
    visitor.turn_to("Compare")
    visitor.choose("Second engine", "mujoco")
    visitor.tick("MuJoCo defaults")
    live.ask(lambda: live.session.configure(engine="analytic"))
    swing(live)
    keep(visitor, "compare")
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
