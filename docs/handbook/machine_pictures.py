"""Pictures of a machine at home, drawn anew when its numbers change."""

from __future__ import annotations

from pathlib import Path

from twin.basics.optional import optional
from twin.platform import Platform
from twin.viewer.camera import Camera

VIEWS = ("overview", "side")

WIDTH, HEIGHT = 800, 600
"""[pixels]"""


def draw(platform: Platform, folder: Path) -> dict[str, Path]:
    """Return the pictures of a machine by view; one that exists already is not drawn again."""
    found = {view: folder / f"{platform.name}_{view}_{platform.hash}.png" for view in VIEWS}
    folder.mkdir(parents=True, exist_ok=True)
    for view, file in found.items():
        if file.exists():
            continue
        with Camera(platform, width=WIDTH, height=HEIGHT, view=view, quality="fine") as camera:
            image = camera.image(platform.home)
        optional("PIL.Image").fromarray(image).save(file)
    return found
