"""Draw docs/images/legs.png: a machine on each kind of legs."""

from __future__ import annotations

import numpy as np
from folder import picture_folder
from PIL import ImageDraw
from PIL.Image import fromarray

import twin
from twin.charts.style import TEXT_COLOR
from twin.viewer.camera import Camera, Image, write_png

MACHINES = {
    "ups": "stewart",
    "strut": "micro_hexapod",
    "viscoelastic": "compliant_stewart",
    "rss": "rss",
    "pillar": "driving_simulator",
    "rps": "tripod",
    "rrs": "balancer",
    "upu": "linuxcnc_hexapod",
}
"""Kind of legs -> machine."""


def picture(kind: str, name: str) -> Image:
    """Return a machine at home with the kind of its legs."""
    platform = twin.load(name)
    with Camera(platform, width=480, height=360, quality="fine") as camera:
        drawn = fromarray(camera.image(platform.home))
    ImageDraw.Draw(drawn).text((12, 8), kind, fill=TEXT_COLOR, font_size=22)
    return np.asarray(drawn)


pictures = [picture(kind, name) for kind, name in MACHINES.items()]
sheet = np.vstack([np.hstack(pictures[:4]), np.hstack(pictures[4:])])
print(write_png(picture_folder() / "legs.png", sheet))
