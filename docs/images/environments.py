"""Draw docs/images/environments.png: the four environments, each some steps into an episode."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from folder import picture_folder
from PIL import ImageDraw
from PIL.Image import fromarray

import twin.envs  # noqa: F401  (registers them)
from twin.charts.style import TEXT_COLOR
from twin.viewer.camera import Camera, Image, write_png

STEPS = {"PoseTracking": 100, "MotionCueing": 240, "VibrationIsolation": 60, "BallBalance": 40}
"""Until the platform is well away from home."""


def picture(name: str, steps: int) -> Image:
    """Return how an environment looks after some small random actions."""
    env: Any = gym.make(f"twin/{name}-v0")
    env.reset(seed=2)
    env.action_space.seed(1)
    for _ in range(steps):
        env.step(0.3 * env.action_space.sample())
    task = env.unwrapped.task
    scene = task.scene(0)
    ball = None if scene.ball is None else task.batch.rolling_ball
    with Camera(task.platform, width=640, height=480, ball=ball, quality="fine") as camera:
        # Less than a millimetre from it, the setpoint would be drawn into the platform.
        seen = scene._replace(ghost=None, ball=None if ball is None else scene.ball[:7])
        image = camera.image(**seen._asdict())
    env.close()
    return image


def named(name: str, steps: int) -> Image:
    """Return such a picture with the name of the environment."""
    drawn = fromarray(picture(name, steps))
    ImageDraw.Draw(drawn).text((16, 10), name, fill=TEXT_COLOR, font_size=26)
    return np.asarray(drawn)


pictures = [named(name, steps) for name, steps in STEPS.items()]
sheet = np.vstack([np.hstack(pictures[:2]), np.hstack(pictures[2:])])
print(write_png(picture_folder() / "environments.png", sheet))
