"""Draw a picture of every machine at home, such as stewart_mujoco.png."""

from __future__ import annotations

from folder import picture_folder

import twin
from twin.viewer.camera import Camera, write_png

for name in twin.machine_names():
    platform = twin.load(name)
    with Camera(platform, width=800, height=600, quality="fine") as camera:
        print(write_png(picture_folder() / f"{name}_mujoco.png", camera.image(platform.home)))
