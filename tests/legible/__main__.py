"""Checks built pages and the live page: `python -m legible build/docs report.html`.

With `--pictures FOLDER` it keeps what it has seen, on sheets to look at.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from browser_rig import browser_command, open_browser

from legible.check import (
    SIZES,
    Keep,
    Reader,
    contrast_faults,
    layout_faults,
    option_faults,
    reading_faults,
)
from legible.live import live_faults
from legible.sheets import Sheets
from twin.cli.console import line, progress_bar

ALIKE = 1
"""Pages of a generated folder whose frame is read and kept: one template makes them all.

Of the others the text is read, and the layout of all is looked at."""

TEXT = "[role=main]"
"""Part of a page that is its own."""

LARGEST = 300e3
"""[byte] of a page of the documents with all that it loads, without its pictures."""

INDEX = "searchindex.js"
"""Left out of this: it holds the words of all pages, and only the page of the search loads it."""


def pages_of(site: Path) -> dict[Path, bool]:
    """Return the pages of a site; True for those that are looked at in full."""
    seen: Counter[Path] = Counter()
    found = {}
    for page in sorted(site.rglob("*.html")):
        seen[page.parent] += 1
        generated = "_generated" in page.relative_to(site).parts
        found[page] = not generated or seen[page.parent] <= ALIKE
    return found


def faults_of(
    pages: dict[Path, bool], largest: float = np.inf, keep: Keep = lambda name, page: None
) -> Iterator[str]:
    """Yield the faults of pages, those larger than `largest` [byte] among them.

    Raises:
        RuntimeError: there is no browser.
    """
    with open_browser(_command()) as browser, progress_bar("pages", len(pages)) as show:
        reader = Reader(browser)
        for page, whole in pages.items():
            show(page.name)
            yield from (f"{page}: {fault}" for fault in _faults_of_page(reader, page, whole))
            size = sum(file.stat().st_size for file in reader.files if file.name != INDEX)
            if size > largest:
                yield f"{page}: {size / 1e3:.0f} kB, more than {largest / 1e3:.0f}"
            for window in SIZES:
                reader.resize(window)
                yield from (f"{page}, {window[0]} wide: {f}" for f in layout_faults(reader.page))
                if whole:
                    keep(f"{page.parent.name} {page.stem}", reader.page)


def _faults_of_page(reader: Reader, page: Path, whole: bool) -> Iterator[str]:
    """Open a page; yield what its scripts say and what is hard to read, light and dark."""
    reader.read(page)
    part = "html" if whole else TEXT
    yield from reading_faults(reader.page, part, reader.colours)
    reader.page.emulate_media(color_scheme="dark")
    dark = contrast_faults(reader.page, part, reader.colours)
    yield from (f"dark: {text}" for text in dark)
    reader.page.emulate_media(color_scheme="light")
    yield from reader.said
    yield from option_faults(page.read_text(encoding="utf-8"))


def _command() -> str:
    """Return the browser's command."""
    command = browser_command()
    if command is None:
        raise RuntimeError("Chromium is missing: apt install chromium")
    return command


def main() -> int:
    """Print the faults of a site and of other pages; returns 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("others", type=Path, nargs="*")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    documents, others = pages_of(given.site), dict.fromkeys(given.others, True)
    if not documents:
        raise FileNotFoundError(f"{given.site} holds no pages: make docs")
    sheets = Sheets(given.pictures)
    faults = [*faults_of(documents, LARGEST, sheets.keep), *faults_of(others, keep=sheets.keep)]
    with open_browser(_command()) as browser, progress_bar("live page", None) as show:
        faults += live_faults(browser, show, sheets.keep)
    sheets.write()
    for fault in faults:
        line(fault)
    count = len(documents) + len(others)
    line(f"{count} pages and the live page in Chromium: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
