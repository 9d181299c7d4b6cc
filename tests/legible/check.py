"""Faults of one page in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import axe_playwright_python
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

SIZES = ((1280, 800), (1920, 1080), (820, 1180))
"""[pixels] of windows on a laptop, on a desk and on a tablet."""

HERE = Path(__file__).parent

LAYOUT = (HERE / "faults.js").read_text(encoding="utf-8")
CONTRAST = (HERE / "contrast.js").read_text(encoding="utf-8")
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

RULES = (
    *("aria-roles", "aria-valid-attr", "button-name", "document-title", "duplicate-id-aria"),
    *("empty-heading", "html-has-lang", "image-alt", "input-button-name", "label"),
    *("link-in-text-block", "link-name", "list", "nested-interactive", "role-img-alt"),
    *("select-name", "svg-img-alt"),
)
"""Of axe-core, beside contrast. Regions that scroll are left out: browsers let the keyboard reach
them."""

ASK = """([rules, part]) => axe.run(document.querySelector(part) || document, {
  runOnly: {type: 'rule', values: rules}, resultTypes: ['violations'], preload: false})"""

OPEN = "() => document.querySelectorAll('details').forEach(part => part.open = true)"

SHORT = re.compile(r"(?:[>\s][\u2013\u2014]|<code[^>]*>(?:[^<]*\s)?-(?!inf\b))[a-z][\w-]+")
"""A long option that does not begin with two dashes."""

Keep = Callable[[str, Page], object]
"""Keeps a picture of a window under a name."""


class Reader:
    """A window for pages from files.

    Attributes:
        page: Playwright's.
        said: errors and warnings of the present page.
        files: that the present page has loaded, without pictures.
        colours: that have been read on all pages.
    """

    def __init__(self, browser: Browser) -> None:
        """Open it."""
        self.page = browser.new_page()
        self.said: list[str] = []
        self.files: set[Path] = set()
        self.colours: set[str] = set()
        self.page.on("console", self.note)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", self.count)

    def read(self, file: Path) -> None:
        """Open a page with all its parts, light, in the first of the sizes."""
        self.said.clear()
        self.files.clear()
        self.page.emulate_media(color_scheme="light")
        self.resize(SIZES[0])
        self.page.goto(file.resolve().as_uri())
        self.page.evaluate(OPEN)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window a size [pixels]."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def note(self, message: ConsoleMessage) -> None:
        """Keep warnings and errors."""
        if message.type in ("error", "warning"):
            self.said.append(message.text)

    def count(self, request: Request) -> None:
        """Keep the files that are loaded, without pictures."""
        if request.resource_type != "image" and request.url.startswith("file:"):
            self.files.add(Path(unquote(urlsplit(request.url).path)))


def option_faults(html: str) -> list[str]:
    """Return the options of commands whose two dashes have become one."""
    return [f"not two dashes: {found}" for found in SHORT.findall(html)]


def layout_faults(page: Page) -> list[str]:
    """Return what is too wide, clipped, or lies on other text."""
    return list(page.evaluate(LAYOUT))


def reading_faults(page: Page, part: str = "html", colours: set[str] | None = None) -> list[str]:
    """Return what axe-core finds in a part: missing names and descriptions, low contrast."""
    page.evaluate(AXE)
    found = page.evaluate(ASK, [list(RULES), part])["violations"]
    return [*_texts(found), *contrast_faults(page, part, set() if colours is None else colours)]


def contrast_faults(page: Page, part: str, colours: set[str]) -> list[str]:
    """Return texts with a contrast below 4.5:1; the page has been read by `reading_faults`.

    Args:
        page: that is seen.
        part: selector of what is looked at.
        colours: that are known to be sound; those of the page are added, if all are.
    """
    known, found = page.evaluate(CONTRAST, [list(colours), part])
    colours.update(known)
    return _texts(found)


def _texts(violations: list[dict[str, Any]]) -> list[str]:
    """Return what axe-core has found as texts."""
    return [
        f"{rule['id']}: {' '.join(node['target'])}: {node['html'][:120]}"
        for rule in violations
        for node in rule["nodes"]
    ]
