"""Pictures of a machine, drawn by MuJoCo into memory; no display is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import as_flag, one_of, whole_number
from twin.basics.copies import NotCopied
from twin.engines.mujoco.model import mujoco
from twin.errors import StateError
from twin.model.ball.ball import Ball
from twin.model.machine_model import MachineModel
from twin.simulation.scene import Scene
from twin.viewer.drawing_context import context_type
from twin.viewer.scene_model import SceneModel
from twin.viewer.view import CLOSE, MAX_PIXELS, View, as_view, framing

Quality = Literal["fast", "fine"]

Image = NDArray[np.uint8]
"""`(height, width, 3)` red, green, blue."""

FINE_SAMPLES = 8
"""Samples per pixel that smooth edges."""

OPENING = 32.0
"""[deg] over the height of a picture."""


class Camera(NotCopied):
    """Takes pictures of one machine, in the state of any engine; threads take turns.

    Attributes:
        platform: the machine.
        width: of the pictures [pixels].
        height: of the pictures [pixels].
        view: where from.
    """

    def __init__(
        self,
        platform: MachineModel,
        *,
        width: int = 640,
        height: int = 480,
        view: str | View | tuple[float, float] = "overview",
        ghost: bool = False,
        ball: Ball | None = None,
        payload: Any = None,
        quality: Quality = "fast",
        dark: bool = False,
    ) -> None:
        """Compile the scene and open a drawing context; `close` frees it.

        Args:
            platform: the machine.
            width: of the pictures [pixels].
            height: of the pictures [pixels].
            view: a name of `VIEWS`, or azimuth and elevation [deg]; from there the machine at home
                fills the picture.
            ghost: whether the platform can be drawn a second time, at the setpoint.
            ball: a ball that rolls on the platform.
            payload: what rides on the platform, at rest on it: an `Occupant`, or segments.
            quality: "fast", or "fine" with smooth edges (some three times slower where
                no graphics card draws).
            dark: whether ground and sky are dark.

        Raises:
            InputError: an argument that cannot be used.
            MissingDependencyError: no OpenGL library draws on this machine.
        """
        self.width = whole_number(width, "width", 1, MAX_PIXELS)
        self.height = whole_number(height, "height", 1, MAX_PIXELS)
        self.view = as_view(view)
        fine = one_of(quality, "quality", ("fast", "fine")) == "fine"
        self._scene_model = SceneModel(
            platform, ghost=ghost, ball=ball, payload=payload, dark=as_flag(dark, "dark")
        )
        self.platform = platform
        model = self._scene_model.model
        model.vis.global_.offwidth, model.vis.global_.offheight = self.width, self.height
        model.vis.quality.offsamples = FINE_SAMPLES if fine else 0
        model.vis.quality.shadowsize = 0
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 16)
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation = self.view
        model.vis.global_.fovy = OPENING
        found = framing(self._scene_model.corners(), self.view, OPENING, self.width / self.height)
        self._target, self._camera.distance = found
        self._pixels = mujoco.MjrRect(0, 0, self.width, self.height)
        self._lock = threading.Lock()
        self._context: Any = context_type()(self.width, self.height)
        # Let go after each use: a context belongs to one thread while it is current.
        with self._context.as_current():
            self._drawing: Any = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._drawing)
        self.image(platform.home)  # the first picture of a context is rounded differently

    def step_back(self, scenes: Iterable[Scene]) -> None:
        """Go as far away as it takes to see the whole machine in all `scenes`, ghosts left out.

        Raises:
            InputError: as `image`.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        corners = []
        for scene in scenes:
            moved = scene.base_displacement
            self._scene_model.place(scene.pose, scene.deflection, base_displacement=moved)
            corners.append(self._scene_model.corners() + self._scene_model.displacement)
        if corners:
            everything = np.concatenate(corners)
            found = framing(everything, self.view, OPENING, self.width / self.height, CLOSE)
            if found.distance > self._camera.distance:
                self._target, self._camera.distance = found

    def image(
        self,
        pose: Any,
        deflection: Any = None,
        *,
        ghost: Any = None,
        ball: Any = None,
        base_displacement: Any = None,
    ) -> Image:
        """Return a picture `(height, width, 3)` of a state.

        Args:
            pose: `(7,)` of the platform in the base frame.
            deflection: `(2k,)` deflections of springs and their rates; default: all zero.
            ghost: `(7,)` setpoint; default: not drawn.
            ball: `(7,)` pose of the ball in the base frame; default: not drawn.
            base_displacement: `(3,)` [m] of the base in the world, which stays where it is in the
                picture; default: none.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion; a ghost or a ball that the
                camera was made without.
            UnreachablePoseError: a leg cannot reach the pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
            StateError: the camera is closed.
        """
        if self._drawing is None:
            raise StateError("the camera is closed: make a new one")
        with self._lock:
            scene_model = self._scene_model
            scene_model.place(
                pose, deflection, ghost=ghost, ball=ball, base_displacement=base_displacement
            )
            self._camera.lookat = self._target - scene_model.displacement
            everything = mujoco.mjtCatBit.mjCAT_ALL
            mujoco.mjv_updateScene(
                scene_model.model,
                scene_model.data,
                self._options,
                None,
                self._camera,
                everything,
                self._scene,
            )
            image = np.empty((self.height, self.width, 3), dtype=np.uint8)
            with self._context.as_current():
                mujoco.mjr_render(self._pixels, self._scene, self._drawing)
                mujoco.mjr_readPixels(image, None, self._pixels, self._drawing)
            return np.ascontiguousarray(image[::-1])  # OpenGL's first row is the lowest

    def close(self) -> None:
        """Free the drawing context; more calls do nothing."""
        if getattr(self, "_drawing", None) is None:
            return
        with self._context.as_current():
            self._drawing.free()
        self._context.free()
        self._drawing = self._context = None

    def __enter__(self) -> Camera:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        """Free what was left open."""
        self.close()
