"""Draw report.png, the workspace and the charts of the guides from the report, with Chromium.

The report is the last of `make report`. The charts are those of its cases.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
from browser_rig import browser_command, open_browser
from folder import ROOT, picture_folder
from PIL import Image
from playwright.sync_api import Browser, Locator, Page
from typer.testing import CliRunner

from twin.cli import app

REPORT = ROOT / "report.html"
WORKSPACE = ROOT / "build" / "workspace_stewart.html"

CHARTS = {
    "frequency_response": (
        "frequency_response",
        "Displacement per displacement of the setpoint in pitch",
    ),
    "tuning": ("tuning", "Velocity step of all actuators"),
}
"""Picture -> case of stewart, and titles of its figures, one below the other."""

WIDTH = 960
"""[pixels] of charts"""

WORKSPACE_LAYOUT = {
    "height": 430,
    "margin.t": 44,
    "legend.font.size": 14,
    **{f"{scene}.{axis}axis.nticks": 5 for scene in ("scene", "scene2") for axis in "xyz"},
    **{f"{scene}.camera.eye": {"x": 1.58, "y": -1.96, "z": 0.81} for scene in ("scene", "scene2")},
}
"""Of the figure of the workspace: less height than on its page, larger words, and nearer."""

RESIZE = """(figure, changes) => {
  figure.style.height = `${changes.height}px`;
  return Plotly.relayout(figure, changes);
}"""

DRAWN = 1500.0
"""[ms] until a scene has been drawn."""

OPEN = "part => { for (; part; part = part.parentElement) if ('open' in part) part.open = true; }"

STYLE = (
    "h2 { scroll-margin-top: 14px } .modebar { display: none !important } "
    "figure { padding: 8px !important; border: 0 !important }"
)
"""Without buttons and frames, and with room around charts."""


def window(browser: Browser, file: Path, width: int, height: int) -> Page:
    """Return a light window with a page from a file."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
    page.goto(file.as_uri())
    page.add_style_tag(content=STYLE)
    return page


def drawn(plot: Locator) -> Locator:
    """Return a chart with its title when it has been drawn."""
    plot.evaluate(OPEN)
    plot.scroll_into_view_if_needed()
    plot.locator(".main-svg").first.wait_for()
    return plot.locator("xpath=..")


def keep(name: str, parts: list[Locator]) -> None:
    """Write parts of a page as one picture, one below the other."""
    shots = [Image.open(BytesIO(part.screenshot())) for part in parts]
    pictures = [np.asarray(shot.convert("RGB")) for shot in shots]
    width = min(picture.shape[1] for picture in pictures)
    whole = np.vstack([picture[:, :width] for picture in pictures])
    Image.fromarray(whole).save(picture_folder() / f"{name}.png", optimize=True)


def draw(browser: Browser) -> None:
    """Draw all pictures."""
    page = window(browser, REPORT, 1400, 1020)
    page.screenshot(path=picture_folder() / "report.png")
    page.set_viewport_size({"width": WIDTH, "height": 800})
    for name, (case, *titles) in CHARTS.items():
        plots = [page.locator(f'#stewart-{case} .plot[aria-label="{title}"]') for title in titles]
        keep(name, [drawn(plot) for plot in plots])
    draw_workspace(window(browser, WORKSPACE, WIDTH, 800))


def draw_workspace(page: Page) -> None:
    """Write the first figure of the workspace, as wide as a page of the guides."""
    page.wait_for_function("document.querySelectorAll('.main-svg').length > 4")
    figure = page.locator(".plotly-graph-div").first
    figure.evaluate(RESIZE, WORKSPACE_LAYOUT)
    page.wait_for_timeout(DRAWN)
    keep("workspace_stewart", [figure])


if __name__ == "__main__":
    command = browser_command()
    assert command is not None, "Chromium is missing: apt install chromium"
    WORKSPACE.parent.mkdir(exist_ok=True)
    made = CliRunner().invoke(app, ["workspace", "stewart", "--report", str(WORKSPACE)])
    assert made.exit_code == 0, made.output
    with open_browser(command) as chromium:
        draw(chromium)
