"""Rendering of environments: pictures of one machine, or a window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from twin.basics.arrays import one_of
from twin.model.ball.ball import Ball
from twin.simulation.platform import Platform
from twin.simulation.scene import Scene

if TYPE_CHECKING:
    from twin.viewer.camera import Camera, Image
    from twin.viewer.window import Window


class Frames:
    """Pictures of machines with the same parameters, or one of them in a window.

    The machine is drawn as its platform.toml describes it, not as an episode varies it. Camera or
    window open with the first frame; a copy opens its own.
    """

    def __init__(
        self,
        platform: Platform,
        render_mode: str,
        ball: Ball | None = None,
        *,
        period: float = 0.02,
        width: int = 640,
        height: int = 480,
    ) -> None:
        """Keep what to draw.

        Args:
            platform: the machine.
            render_mode: "human" for a window, else pictures.
            ball: a ball that rolls on the platform.
            period: time [s] between two frames of the window.
            width: of the pictures [pixels].
            height: of the pictures [pixels].
        """
        self.platform, self.render_mode, self.ball = platform, render_mode, ball
        self.period, self.width, self.height = period, width, height
        self._camera: Camera | None = None
        self._window: Window | None = None

    def frame(self, scene: Scene) -> Image | None:
        """Return a picture `(height, width, 3)` uint8, or show it in the window.

        Raises:
            MissingDependencyError: no OpenGL library draws on this machine.
            StateError: a window without a display.
        """
        ball = None if scene.ball is None or self.ball is None else scene.ball[:7]
        seen = scene._replace(ball=ball)._asdict()
        if self.render_mode == "human":
            self._opened_window().show(**seen)
            return None
        return self._opened_camera().image(**seen)

    def close(self) -> None:
        """Close camera and window; `render` opens them again."""
        for opened in (self._camera, self._window):
            if opened is not None:
                opened.close()
        self._camera = self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_camera": None, "_window": None}

    def _opened_camera(self) -> Camera:
        if self._camera is None:
            from twin.viewer.camera import Camera

            self._camera = Camera(
                self.platform, width=self.width, height=self.height, ghost=True, ball=self.ball
            )
        return self._camera

    def _opened_window(self) -> Window:
        if self._window is None:
            from twin.viewer.window import Window

            self._window = Window(self.platform, period=self.period, ghost=True, ball=self.ball)
        return self._window


def check_render_mode(render_mode: Any, known: Iterable[str]) -> str | None:
    """Return a mode that is known, or None.

    Raises:
        InputError: another.
    """
    return None if render_mode is None else one_of(render_mode, "render_mode", known)
