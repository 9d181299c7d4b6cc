"""Pictures that the build has drawn, in place of the committed ones; which of them are charts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from PIL import Image

IMAGE = re.compile(r'<img (?![^>]*class=)([^>]*src="[^"]*_images/([^"]+\.png)")')

SCREENSHOTS = "viewer_"
"""Pictures of the page, whose panels are white: their names begin so."""


def use_drawn(pictures: Path, site: Path) -> list[str]:
    """Copy pictures over those of a site that have their names; returns the names."""
    found = sorted(file.name for file in pictures.glob("*.*") if (site / file.name).is_file())
    for name in found:
        shutil.copyfile(pictures / name, site / name)
    return found


def mark_charts(site: Path) -> set[str]:
    """Give images that are drawn on white the class `chart` on all pages; returns their names."""
    charts = {file.name for file in (site / "_images").glob("*.png") if _is_chart(file)}
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        marked = IMAGE.sub(
            lambda found: f'<img class="chart" {found[1]}' if found[2] in charts else found[0], text
        )
        if marked != text:
            page.write_text(marked, encoding="utf-8")
    return charts


def _is_chart(file: Path) -> bool:
    with Image.open(file) as image:
        corner = image.convert("RGB").getpixel((1, 1))
    return corner == (255, 255, 255) and not file.name.startswith(SCREENSHOTS)
