"""Checks built pages and the live page: `python -m legible build/docs report.html`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from browser_rig import browser_command, open_browser

from legible.check import SIZES, layout_faults, opened, reading_faults
from legible.live import WINDOWS, live_faults
from twin.cli.console import line, progress_bar

ALIKE = 1
"""Pages of a generated folder that are looked at in full: one template makes them all.

Of the others the layout is looked at in the narrow window alone."""

LARGEST = 300e3
"""[byte] of a page of the documents without its pictures."""


def pages_of(site: Path) -> dict[Path, bool]:
    """Return the pages of a site; True for those that are looked at in full."""
    seen: Counter[Path] = Counter()
    found = {}
    for page in sorted(site.rglob("*.html")):
        seen[page.parent] += 1
        generated = "_generated" in page.relative_to(site).parts
        found[page] = not generated or seen[page.parent] <= ALIKE
    return found


def faults_of(pages: dict[Path, bool], largest: float = np.inf) -> Iterator[str]:
    """Yield the faults of pages, those larger than `largest` [byte] among them.

    Raises:
        RuntimeError: there is no browser.
    """
    command = _command()
    for page in pages:
        if page.stat().st_size > largest:
            yield f"{page}: {page.stat().st_size / 1e3:.0f} kB, more than {largest / 1e3:.0f}"
    with open_browser(command) as browser, progress_bar("pages", len(SIZES) * len(pages)) as show:
        for size in SIZES:
            window, said = opened(browser, size)
            for page, read in pages.items():
                show(page.name)
                if not read and size is not SIZES[-1]:
                    continue
                said.clear()
                window.goto(page.resolve().as_uri())
                yield from (f"{page}, {size[0]} wide: {fault}" for fault in layout_faults(window))
                yield from (f"{page}: {text}" for text in said)
                if read and size is SIZES[0]:
                    yield from (f"{page}: {fault}" for fault in reading_faults(window))


def _command() -> str:
    """Return the browser's command."""
    command = browser_command()
    if command is None:
        raise RuntimeError("Chromium is missing: apt install chromium")
    return command


def main(site: str, *others: str) -> int:
    """Print the faults of a site and of other pages; returns 1 if there are any."""
    documents, report = pages_of(Path(site)), dict.fromkeys(map(Path, others), True)
    if not documents:
        raise FileNotFoundError(f"{site} holds no pages: make docs")
    faults = [*faults_of(documents, LARGEST), *faults_of(report)]
    with open_browser(_command()) as browser, progress_bar("live page", len(WINDOWS)) as show:
        faults += live_faults(browser, show)
    for fault in faults:
        line(fault)
    count = len(documents) + len(report)
    line(f"{count} pages and the live page in Chromium: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
