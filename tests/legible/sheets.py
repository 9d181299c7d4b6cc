"""Pictures of windows, and sheets with many of them side by side."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

WIDTH, COUNT = 2000, 12
"""[pixels] of a sheet, and pictures on it."""

HIGHEST = 2.0
"""Of a picture, in heights of its window: long pages go on below."""

SHARE = 0.4
"""Of its size that a picture has on a sheet."""


class Sheets:
    """Keeps pictures of windows in a folder, by the windows' widths; without one keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        """Nothing is kept yet."""
        self.folder = folder
        self.kept: defaultdict[int, list[Path]] = defaultdict(list)

    def keep(self, name: str, page: Page) -> None:
        """Keep what a window shows, and what is below it."""
        size = page.viewport_size
        if self.folder is None or size is None:
            return
        place = self.folder / str(size["width"]) / f"{name.replace('/', '_')}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        seen = {"x": 0, "y": 0, "width": size["width"], "height": HIGHEST * size["height"]}
        page.screenshot(path=place, full_page=True, clip=seen)  # type: ignore[arg-type]
        self.kept[size["width"]].append(place)

    def write(self) -> None:
        """Write the sheets beside the folders of the pictures."""
        for width, files in self.kept.items():
            for first in range(0, len(files), COUNT):
                self.sheet(files[first : first + COUNT], f"{width} {first:03d}")

    def sheet(self, files: list[Path], name: str) -> None:
        """Write one sheet of pictures."""
        shots = [Image.open(file).convert("RGB") for file in files]
        small = [shot.resize([round(SHARE * edge) for edge in shot.size]) for shot in shots]
        width, height = (max(shot.size[k] for shot in small) + 8 for k in (0, 1))
        across = max(1, WIDTH // width)
        sheet = Image.new("RGB", (across * width, -(-len(small) // across) * height), "grey")
        for number, shot in enumerate(small):
            sheet.paste(shot, (number % across * width, number // across * height))
        assert self.folder is not None
        sheet.save(self.folder / f"{name}.png")
