"""Faults of one page in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Browser, ConsoleMessage, Page

SIZES = ((1280, 800), (820, 1180))
"""[pixels] of a laptop's window and of a tablet."""

LAYOUT = Path(__file__).with_name("faults.js").read_text(encoding="utf-8")
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

RULES = (
    *("aria-roles", "aria-valid-attr", "button-name", "color-contrast", "document-title"),
    *("duplicate-id-aria", "empty-heading", "html-has-lang", "image-alt", "input-button-name"),
    *("label", "link-in-text-block", "link-name", "list", "nested-interactive", "role-img-alt"),
    *("select-name", "svg-img-alt"),
)
"""Of axe-core. Regions that scroll are left out: browsers let the keyboard reach them."""

ASK = "rules => axe.run({runOnly: {type: 'rule', values: rules}, resultTypes: ['violations']})"


def opened(browser: Browser, size: tuple[int, int]) -> tuple[Page, list[str]]:
    """Return a window of a size [pixels], and the list that its errors go to."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    said: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            said.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: said.append(str(error)))
    return page, said


def layout_faults(page: Page) -> list[str]:
    """Return what is too wide, clipped, or lies on other text."""
    return list(page.evaluate(LAYOUT))


def reading_faults(page: Page) -> Iterator[str]:
    """Yield what axe-core finds: contrast below 4.5:1, missing names and descriptions."""
    page.evaluate(AXE)
    for rule in page.evaluate(ASK, list(RULES))["violations"]:
        for node in rule["nodes"]:
            yield f"{rule['id']}: {' '.join(node['target'])}: {node['html'][:120]}"
