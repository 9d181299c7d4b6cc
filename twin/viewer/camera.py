"""Pictures of a machine, drawn by MuJoCo into memory; no display is needed.

The OpenGL library that draws into memory is chosen on first use. MuJoCo itself picks one when it is
imported, by the variable MUJOCO_GL, and else one that needs a display. Here the choice is made when
the first picture is asked for; MUJOCO_GL decides if set.

A picture is written as PNG, a film as GIF or MP4 by the ending of its name; no file is ever seen
half written.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable
from contextlib import closing, suppress
from functools import cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import (
    FloatArray,
    NotCopied,
    as_flag,
    as_vector,
    bounded,
    one_of,
    whole_number,
)
from twin.basics.files import check_writable, write_atomically
from twin.basics.optional import optional
from twin.engines.mujoco import mujoco
from twin.errors import InputError, MissingDependencyError, StateError, brief
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel
from twin.simulation.simulate import Scene
from twin.viewer.scene_model import SceneModel

MAX_GIF_RATE = 50.0
"""[1/s] Largest rate of a GIF: browsers show pictures that stay for one tick slowly."""

MP4_OPTIONS = (
    "-crf 18 -preset medium -movflags +faststart -vf scale=out_color_matrix=bt709:out_range=tv "
    "-colorspace bt709 -color_primaries bt709 -color_trc bt709"
)
"""H.264 of constant quality, visually lossless, in the colours that browsers expect."""

GIF_OPTIONS = (
    "-loop 0 -filter_complex "
    "split[copy][images];[copy]palettegen[palette];"
    "[images][palette]paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle"
)
"""One palette for all pictures, and a dither that stays in place, so that what stands still costs
nothing.
"""

FILM_ENCODERS = {
    ".mp4": {"codec": "libx264", "pix_fmt_out": "yuv420p", "output_params": MP4_OPTIONS.split()},
    ".gif": {"codec": "gif", "pix_fmt_out": "pal8", "output_params": GIF_OPTIONS.split()},
}
"""Ending of a film's name -> arguments of `imageio_ffmpeg.write_frames`."""


def png_bytes(image: Image) -> bytes:
    """Return a picture `(height, width, 3)` as the bytes of a PNG file.

    Raises:
        MissingDependencyError: Pillow is not installed.
    """
    content = BytesIO()
    optional("PIL.Image").fromarray(image).save(content, "PNG", optimize=True)
    return content.getvalue()


def write_png(path: str | Path, image: Image) -> Path:
    """Write a picture `(height, width, 3)` as PNG and return its path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: Pillow is not installed.
    """
    content = png_bytes(image)
    return write_atomically(path, lambda file: file.write(content))


def write_images(path: Path, images: Iterable[Image], size: tuple[int, int], rate: float) -> Path:
    """Write pictures as a film and return its path.

    Args:
        path: of the file; ends in .mp4 (H.264, yuv420p) or .gif (repeats for ever).
        images: `(height, width, 3)` each; taken one after the other.
        size: width and height [pixels]; even numbers for MP4.
        rate: pictures per second.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: imageio-ffmpeg or its program is not installed.
        StateError: the program failed; it says why on the terminal.
    """
    library = optional("imageio_ffmpeg")
    try:
        program = shutil.which(library.get_ffmpeg_exe())
    except RuntimeError:
        program = None
    if program is None:
        raise MissingDependencyError("ffmpeg", "Writing films", "apt-get install ffmpeg")
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / f"film{path.suffix}"
        writer = library.write_frames(
            film,
            size,
            fps=rate,
            quality=None,
            macro_block_size=1,
            ffmpeg_log_level="error",
            **FILM_ENCODERS[path.suffix],
        )
        count = 0
        with closing(writer), suppress(OSError):  # of a program that has ended
            writer.send(None)
            for image in images:
                count += 1
                writer.send(np.ascontiguousarray(image))
        if _pictures_in(film) != count:
            raise StateError("ffmpeg could not write the film: see its own message")
        with film.open("rb") as content:
            return write_atomically(path, lambda file: shutil.copyfileobj(content, file))


def _pictures_in(film: Path) -> int:
    """Return the number of pictures of a film, 0 where it cannot be read.

    The library does not tell how the program that writes it ended.
    """
    try:
        return int(optional("imageio_ffmpeg").count_frames_and_secs(film)[0])
    except RuntimeError:
        return 0


DEFAULT_RATES = {".mp4": 30.0, ".gif": 15.0}
"""Default pictures per second, by the ending of a film's name."""

PICTURE_SUFFIX = ".png"
"""Ending of the name of a single picture."""

MAX_RATE = 240.0
"""[1/s] Largest rate of pictures of a film."""

MIN_RATE = 0.01
"""[1/s] Lowest rate of pictures of a film; a GIF counts at most 655 s for each."""


def check_film(path: str | Path, width: int, height: int) -> Path:
    """Return the path of a film that can probably be written.

    Raises:
        InputError: an ending that is not known, no such folder, odd numbers of pixels for MP4.
    """
    target = _output_path(path, tuple(DEFAULT_RATES))
    has_odd_size = any(isinstance(size, int) and size % 2 for size in (width, height))
    if target.suffix == ".mp4" and has_odd_size:
        even_width, even_height = width + width % 2, height + height % 2
        raise InputError(
            "size", f"MP4 takes even numbers of pixels: try {even_width}x{even_height}, or a GIF"
        )
    return target


def check_picture(path: str | Path) -> Path:
    """Return the path of a picture that can probably be written.

    Raises:
        InputError: another ending than .png, no such folder.
    """
    return _output_path(path, (PICTURE_SUFFIX,))


def _output_path(path: str | Path, endings: tuple[str, ...]) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix not in endings:
        raise InputError("path", f"must end in {' or '.join(endings)}, got {brief(path)}")
    check_writable(path)
    return Path(path)


def picture_rate(rate: Any, target: Path) -> float:
    """Return the pictures per second of a film, by its name where None is given.

    Raises:
        InputError: out of range.
    """
    max_rate = MAX_GIF_RATE if target.suffix == ".gif" else MAX_RATE
    return (
        DEFAULT_RATES[target.suffix] if rate is None else bounded(rate, "rate", MIN_RATE, max_rate)
    )


GL_BACKENDS = ("egl", "osmesa", "glfw")
"""Backends in the order in which they are tried: graphics card or Mesa, software alone, a hidden
window.
"""

BACKEND_VARIABLE = "MUJOCO_GL"
"""Environment variable with the name of a backend."""

INSTALL_COMMAND = "apt-get install libegl1 libgl1-mesa-dri (EGL), or libosmesa6 (OSMesa)"

MAX_PIXELS = 4096
"""Largest width or height of a picture: what graphics libraries draw at once."""

HOME_MARGIN = 1.2
"""Size of the view over that of the machine at home, as the platform moves."""

MOTION_MARGIN = 1.03
"""Size of the view over that of the machine in all its poses."""

FINE_SAMPLES = 8
"""Samples per pixel that smooth edges."""

FIELD_OF_VIEW = 32.0
"""[deg] Angle of view over the height of a picture."""


def has_display() -> bool:
    """Return whether windows can be opened."""
    return sys.platform != "linux" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


@cache
def context_type() -> Any:
    """Return MuJoCo's class of drawing contexts of the first backend that works.

    Raises:
        InputError: MUJOCO_GL names none.
        MissingDependencyError: none works; says why.
    """
    failures = []
    for backend in _candidates():
        modules_before = set(sys.modules)
        platform = os.environ.get("PYOPENGL_PLATFORM")
        try:
            if backend == "egl":
                _find_device()
            context_class = import_module(f"mujoco.{backend}").GLContext
            _try(context_class)
        # Missing libraries, drivers and displays show as errors of many kinds.
        except Exception as error:
            reason = str(error).strip() or type(error).__name__
            failures.append(f"{backend}: {reason.splitlines()[0]}")
            _forget(modules_before, platform)
        else:
            return context_class
    reasons = "; ".join(failures)
    raise MissingDependencyError("an OpenGL library", f"Drawing ({reasons})", INSTALL_COMMAND)


def _try(context: Any) -> None:
    """Clear the picture without drawing a scene."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = context(16, 16)
        trial.make_current()
        try:
            model = mujoco.MjModel.from_xml_string("<mujoco/>")
            mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100).free()
        finally:
            trial.free()


def _find_device() -> None:
    """Raise OSError if EGL finds no device.

    A process that has loaded EGL for all to use cannot change to OSMesa: MuJoCo takes its
    functions from there. So EGL is asked before, by a handle of our own.
    """
    library = ctypes.CDLL("libEGL.so.1")
    library.eglGetProcAddress.restype = ctypes.c_void_p
    address = library.eglGetProcAddress(b"eglQueryDevicesEXT")
    if not address:
        raise OSError("EGL cannot list devices")
    count = ctypes.c_int(0)
    pointer = ctypes.POINTER(ctypes.c_int)
    listing = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, pointer)(address)
    if not listing(0, None, ctypes.byref(count)) or count.value < 1:
        raise OSError("no device, neither a graphics card nor Mesa's software")


def _candidates() -> tuple[str, ...]:
    backend = os.environ.get(BACKEND_VARIABLE, "").lower().strip()
    if backend in GL_BACKENDS:
        return (backend,)
    if backend not in ("", "glx", "enable", "enabled", "on", "true", "1"):
        raise InputError(
            BACKEND_VARIABLE, f"the variable must be one of {', '.join(GL_BACKENDS)}, or not set"
        )
    return GL_BACKENDS if has_display() else GL_BACKENDS[:2]


def _forget(modules_before: set[str], platform: str | None) -> None:
    """Undo the import of a backend: PyOpenGL binds itself to the first that it loads."""
    for name in set(sys.modules) - modules_before:
        if name.split(".")[0] == "OpenGL" or name.startswith("mujoco."):
            del sys.modules[name]
    if platform is None:
        os.environ.pop("PYOPENGL_PLATFORM", None)


class View(NamedTuple):
    """Direction of looking."""

    azimuth: float
    """[deg] direction in which the camera looks, about the vertical: 0 along x of the base, 90
    along y
    """
    elevation: float
    """[deg] negative: down on the machine"""

    @property
    def direction(self) -> FloatArray:
        """Unit vector `(3,)` in which the camera looks."""
        azimuth, elevation = np.radians(self)
        horizontal = np.array([np.cos(azimuth), np.sin(azimuth)]) * np.cos(elevation)
        return np.array([*horizontal, np.sin(elevation)])


VIEWS = {
    "overview": View(140.0, -24.0),
    "front": View(180.0, -8.0),
    "side": View(90.0, -8.0),
    "top": View(90.0, -89.0),
}
"""Views by name; x of the base is ahead, so `front` looks back along it."""


def as_view(value: Any) -> View:
    """Return a view by its name, or of azimuth and elevation [deg].

    Raises:
        InputError: no such name, not two finite numbers.
    """
    if isinstance(value, str):
        return VIEWS[one_of(value, "view", VIEWS)]
    return View(*as_vector(value, "view", 2).tolist())


class Framing(NamedTuple):
    """Target of the camera, and its distance."""

    target: FloatArray
    """point that the camera looks at `(3,)` [m]"""
    distance: float
    """distance of the camera from the target [m]"""


def framing(
    corners: FloatArray, view: View, fovy: float, aspect: float, margin: float = HOME_MARGIN
) -> Framing:
    """Return target and shortest distance from which all `corners` `(k, 3)` [m] are seen.

    The target is found by eight iterations, so that the distance is nearly the shortest.

    Args:
        corners: points that shall be seen.
        view: the direction of looking.
        fovy: opening angle [deg] over the picture's height.
        aspect: width over height of the picture.
        margin: size of the picture over that of the points in it, 1 or more.
    """
    view_direction, azimuth = view.direction, np.radians(view.azimuth)
    right_direction = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
    image_axes = np.stack([right_direction, np.cross(right_direction, view_direction)], axis=1)
    slopes = np.tan(0.5 * np.radians(fovy)) * np.array([aspect, 1.0])
    box_center = 0.5 * (corners.min(axis=0) + corners.max(axis=0))

    def seen_from(target: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return half extents `(k, 2)` and depth `(k,)` of the points, and the distance [m]."""
        offsets = corners - target
        depth = offsets @ view_direction
        half_extents = offsets @ image_axes * margin / slopes
        return half_extents, depth, float((np.abs(half_extents) - depth[:, None]).max())

    for _ in range(8):
        # What is nearer looks larger: move the target until both edges are as far from the frame.
        half_extents, depth, distance = seen_from(box_center)
        visible_extents = half_extents / (distance + depth)[:, None]
        image_shift = (
            0.5
            * (visible_extents.min(axis=0) + visible_extents.max(axis=0))
            * slopes
            * distance
            / margin
        )
        box_center = box_center + image_axes @ image_shift
    return Framing(box_center, seen_from(box_center)[2])


Quality = Literal["fast", "fine"]

Image = NDArray[np.uint8]
"""`(height, width, 3)` red, green, blue."""


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
            MissingDependencyError: no OpenGL library draws on this computer.
        """
        self.width = whole_number(width, "width", 1, MAX_PIXELS)
        self.height = whole_number(height, "height", 1, MAX_PIXELS)
        self.view = as_view(view)
        is_fine = one_of(quality, "quality", ("fast", "fine")) == "fine"
        self.scene_model = SceneModel(
            platform, ghost=ghost, ball=ball, payload=payload, dark=as_flag(dark, "dark")
        )
        self.platform = platform
        model = self.scene_model.model
        model.vis.global_.offwidth, model.vis.global_.offheight = self.width, self.height
        model.vis.quality.offsamples = FINE_SAMPLES if is_fine else 0
        model.vis.quality.shadowsize = 0
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 16)
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation = self.view
        model.vis.global_.fovy = FIELD_OF_VIEW
        view_frame = framing(
            self.scene_model.corners(), self.view, FIELD_OF_VIEW, self.width / self.height
        )
        self._target, self._camera.distance = view_frame
        self._pixels = mujoco.MjrRect(0, 0, self.width, self.height)
        self._lock = threading.Lock()
        self._context: Any = context_type()(self.width, self.height)
        # Let go after each use: a context belongs to one thread while it is current.
        with self._context.as_current():
            self._drawing: Any = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._drawing)
        self.image(platform.home)  # the first picture of a context is rounded differently

    def step_back(self, scenes: Iterable[Scene]) -> None:
        """Move the camera back until the whole machine is visible in every one of `scenes`.

        The ghost, the platform drawn again at the setpoint, may lie outside.

        Raises:
            InputError: as `image`.
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        corners = []
        for scene in scenes:
            base_displacement = scene.base_displacement
            self.scene_model.place(
                scene.pose, scene.deflection, base_displacement=base_displacement
            )
            corners.append(self.scene_model.corners() + self.scene_model.displacement)
        if corners:
            all_corners = np.concatenate(corners)
            view_frame = framing(
                all_corners, self.view, FIELD_OF_VIEW, self.width / self.height, MOTION_MARGIN
            )
            if view_frame.distance > self._camera.distance:
                self._target, self._camera.distance = view_frame

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
            scene_model = self.scene_model
            scene_model.place(
                pose, deflection, ghost=ghost, ball=ball, base_displacement=base_displacement
            )
            self._camera.lookat = self._target - scene_model.displacement
            all_categories = mujoco.mjtCatBit.mjCAT_ALL
            mujoco.mjv_updateScene(
                scene_model.model,
                scene_model.data,
                self._options,
                None,
                self._camera,
                all_categories,
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
        """Free the drawing context if it was left open."""
        self.close()
