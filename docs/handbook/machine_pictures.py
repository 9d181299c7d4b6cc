"""Pictures of a machine at home, drawn anew when its numbers or the code that draws change."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

import twin.machine.mechanism
import twin.viewer
from handbook import dimensions
from twin.analysis.platform import Platform
from twin.basics.optional import optional
from twin.viewer.camera import Camera

VIEWS = ("overview", "side")

SKETCH = "dimensions"

WIDTH, HEIGHT = 800, 600
"""[pixels]"""


def draw(platform: Platform, folder: Path) -> dict[str, Path]:
    """Return the pictures of a machine by view; one that exists already is not drawn again."""
    name, key = platform.name, f"{platform.hash}_{sources()}"
    found = {view: folder / f"{name}_{view}_{key}.png" for view in (*VIEWS, SKETCH)}
    folder.mkdir(parents=True, exist_ok=True)
    for view, file in found.items():
        if file.exists():
            continue
        for old in folder.glob(f"{name}_{view}_*.png"):
            old.unlink()
        if view == SKETCH:
            dimensions.dimensions_figure(platform).savefig(file)
            continue
        with Camera(platform, width=WIDTH, height=HEIGHT, view=view, quality="fine") as camera:
            image = camera.image(platform.home)
        optional("PIL.Image").fromarray(image).save(file)
    return found


@cache
def sources() -> str:
    """Return a hash of the code that draws."""
    files = sorted(file for folder in twin.viewer.__path__ for file in Path(folder).rglob("*.py"))
    files += [Path(twin.machine.mechanism.__file__), Path(dimensions.__file__)]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
