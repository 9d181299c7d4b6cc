"""Pictures of machines: everything in its place, in the frame, and freed afterwards."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from conftest import MACHINES
from hypothesis import given
from hypothesis import strategies as some
from numpy.testing import assert_allclose, assert_array_equal
from paths import poses_within_limits, shifted
from refusals import assert_each_refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within

import twin
from twin.engines.mujoco import MujocoEngine
from twin.errors import StateError
from twin.model.ball import ball_for
from twin.page.scene.scene_view import DARK_LINE_COLOURS, DARK_PLANE_COLOUR, DARK_SKY_COLOURS
from twin.viewer.bodies.machine import DARK_SCHEME
from twin.viewer.camera import (
    HOME_MARGIN,
    Camera,
    Quality,
    View,
    framing,
)
from twin.viewer.scene_model import SceneModel
from twin.viewer.window import Window

pytestmark = pytest.mark.pages

EXACT = {"rtol": 1e-12, "atol": 1e-12}

SIZE = {"width": 96, "height": 72}

OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture(scope="module")
def camera(stewart):
    """A camera that can show all there is."""
    ball = ball_for(stewart.parameters)
    with Camera(stewart, ghost=True, ball=ball, width=320, height=240) as opened:
        yield opened


def changed(first, second):
    """Return which pixels differ."""
    different = np.asarray(first, dtype=int) - np.asarray(second, dtype=int)
    return np.asarray(np.abs(different).max(axis=2) > 8)


# Where things are.


@pytest.mark.parametrize("name", MACHINES)
def test_the_scene_model_places_bodies_where_an_engine_has_them(name):
    """Poses of a simulated machine on other joints: MuJoCo's own kinematics."""
    platform = twin.load(name)
    scene_model, engine = SceneModel(platform, ghost=True), MujocoEngine(platform, timestep=1e-4)
    bodies = [engine.model.body(k).name for k in range(engine.model.nbody)]
    assert len(bodies) > 8
    deflection = 0.01 * np.arange(2 * platform.n_deflections)
    for pose in poses_within_limits(platform, 5, 7):
        engine.reset(pose, deflection=deflection)
        scene_model.place(pose, deflection)
        for body in bodies:
            mine, its = scene_model.data.body(body), engine.data.body(body)
            assert_allclose(mine.xpos, its.xpos, err_msg=body, **EXACT)
            assert_allclose(mine.xmat, its.xmat, err_msg=body, **EXACT)


def test_a_pose_of_soft_loops_is_taken_as_the_nearest():
    """The driving simulator's foot is fixed: engines with soft loops are off by micrometres."""
    platform = twin.load("driving_simulator")
    scene_model = SceneModel(platform)
    off = shifted(platform.home, 1e-5, -2e-5, 1e-3)
    scene_model.place(off)
    height = scene_model.data.body("platform").xpos[2] - platform.home[2]
    assert_allclose(height, 1e-3, rtol=1e-9)


def test_ghost_and_ball_are_where_they_are_put(stewart):
    ball = ball_for(stewart.parameters)
    scene_model = SceneModel(stewart, ghost=True, ball=ball)
    turn = Rotation.from_rotvec([0.1, -0.2, 0.3]).as_quat(scalar_first=True)
    setpoint, rolled = np.array([0.1, 0.2, 1.0, *turn]), np.array([0.3, 0.0, 1.1, *turn])
    scene_model.place(setpoint, ghost=stewart.home, ball=rolled)
    own = {part: scene_model.data.geom(part).xpos.copy() for part in ("platform_platform", "ball")}
    assert_allclose(own["ball"], rolled[:3], **EXACT)
    scene_model.place(stewart.home, ghost=setpoint)
    assert_allclose(
        scene_model.data.geom("ghost_platform_platform").xpos, own["platform_platform"], **EXACT
    )
    top = scene_model.data.geom("ball_plate").xpos[2] + scene_model.model.geom("ball_plate").size[1]
    assert_allclose(top, stewart.home[2] + ball.plate_height, **EXACT)


def test_what_stands_still_is_the_room(stewart):
    """A base that moves up leaves the floor below it, seen from the base."""
    scene_model = SceneModel(stewart)
    before = scene_model.data.geom("floor").xpos.copy()
    moved = np.array([0.1, 0.2, 0.3])
    scene_model.place(stewart.home, base_displacement=moved)
    assert_allclose(scene_model.data.geom("floor").xpos, before - moved, **EXACT)
    scene_model.place(stewart.home)
    assert_allclose(scene_model.data.geom("floor").xpos, before, **EXACT)


# What fits in a picture.


@given(
    seed=some.integers(0, 2**32 - 1),
    azimuth=some.floats(-180.0, 180.0),
    elevation=some.floats(-89.0, 60.0),
    aspect=some.floats(0.4, 2.5),
    count=some.integers(2, 30),
)
def test_all_corners_are_in_the_frame(seed, azimuth, elevation, aspect, count):
    """Projected anew, by a rotation matrix of SciPy's, as MuJoCo defines its angles."""
    corners = np.random.default_rng(seed).normal(size=(count, 3)) * [1.0, 0.4, 2.0] + [
        3.0,
        1.0,
        0.0,
    ]
    view = View(azimuth, elevation)
    target, distance = framing(corners, view, 40.0, aspect)
    turn = Rotation.from_euler("ZY", [azimuth, -elevation], degrees=True)
    ahead, left, up = (turn.inv().apply(corners - target)).T
    frame = np.tan(np.radians(20.0)) * (distance + ahead)
    assert (ahead > -distance).all()
    assert (np.abs(left) <= frame * aspect * (1.0 + 1e-9)).all()
    assert (np.abs(up) <= frame * (1.0 + 1e-9)).all()
    fullest = max((np.abs(left) / (frame * aspect)).max(), (np.abs(up) / frame).max())
    assert fullest >= 0.7 / HOME_MARGIN or count < 30


def test_pictures_show_the_state(camera):
    home = camera.platform.home
    first = camera.image(home)
    assert first.shape == (240, 320, 3) and first.dtype == np.uint8
    assert_array_equal(first, camera.image(home))
    raised = shifted(home, 0.0, 0.0, 0.1)
    assert changed(first, camera.image(raised)).sum() > 1000
    assert_array_equal(first, camera.image(home))


def test_fine_pictures_have_smooth_edges(stewart):
    """They are nearer to the means over the pixels of a larger picture than fast ones are."""
    with Camera(stewart, width=640, height=480) as camera:
        means = camera.image(stewart.home).reshape(120, 4, 160, 4, 3).mean(axis=(1, 3))
    off = {}
    for quality in get_args(Quality):
        with Camera(stewart, quality=quality, width=160, height=120) as camera:
            off[quality] = np.abs(camera.image(stewart.home) - means).mean()
    assert off["fine"] < 0.6 * off["fast"]


def test_dark_pictures_show_the_same_machine_on_the_dark_ground_of_the_page(stewart):
    pictures = []
    for dark in (False, True):
        with Camera(stewart, dark=dark, view="side", width=160, height=120) as camera:
            pictures.append(camera.image(stewart.home).astype(int))
    light, dim = pictures
    for sky_or_ground in (np.s_[:20], np.s_[-12:]):
        assert light[sky_or_ground].mean() > 160 and dim[sky_or_ground].mean() < 70
    same = np.abs(light - dim).max(axis=2) < 3
    assert same.mean() > 0.1
    for mine, its in zip(
        DARK_SCHEME,
        (DARK_PLANE_COLOUR, DARK_LINE_COLOURS[0], DARK_SKY_COLOURS[1], DARK_SKY_COLOURS[0]),
        strict=True,
    ):
        assert_within(mine, np.array(its) / 255.0, 0.006)


# What is refused.


def test_wrong_options_are_named(stewart):
    assert_each_refused(
        lambda **options: Camera(stewart, **options),
        {
            "width": [0],
            "view": ["from below", (np.nan, 0.0)],
            "quality": ["best"],
            "dark": ["black"],
        },
    )


def test_wrong_states_are_named(stewart):
    scene_model = SceneModel(stewart)
    assert_each_refused(
        lambda **options: scene_model.place(**{"pose": stewart.home} | options),
        {
            "pose": [np.zeros(7), np.full(7, np.nan)],
            "deflection": [[1.0]],
            "ghost": [stewart.home],
            "ball": [stewart.home],
            "base_displacement": [[1.0, 2.0]],
        },
    )


# What is freed.


def test_closed_cameras_say_so(stewart):
    camera = Camera(stewart, **SIZE)
    camera.close()
    camera.close()
    with pytest.raises(StateError, match="closed"):
        camera.image(stewart.home)


def test_threads_take_turns(stewart):
    with Camera(stewart, **SIZE) as opened, ThreadPoolExecutor(4) as threads:
        wanted = opened.image(stewart.home)
        found = list(threads.map(opened.image, [stewart.home] * 12))
    assert all(np.array_equal(image, wanted) for image in found)


def test_cameras_do_not_disturb_each_other(stewart, srspm):
    first, second = Camera(stewart, **SIZE), Camera(srspm, **SIZE)
    alone = first.image(stewart.home)
    second.image(srspm.home)
    assert_array_equal(alone, first.image(stewart.home))
    second.close()
    assert_array_equal(alone, first.image(stewart.home))
    first.close()


def resident():
    """Return the memory [MB] this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_closing_frees_what_opening_took(stewart):
    """A context with its pixels is some 10 MB: eight that stay would show in every round.

    The process itself may grow in a few of them.
    """

    def grow():
        before = resident()
        for _ in range(8):
            with Camera(stewart, width=320, height=240) as camera:
                camera.image(stewart.home)
        return resident() - before

    grow()
    files = len(list(OPEN_FILES.iterdir()))
    assert min(grow() for _ in range(4)) < 10.0
    assert len(list(OPEN_FILES.iterdir())) == files


# What draws.


def drawn_by(code, **variables):
    """Return the output of code in a process whose environment has these variables only."""
    hidden = {"DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM"}
    environment = {k: v for k, v in os.environ.items() if k not in hidden} | variables
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


TAKE = """
import mujoco, twin
from twin.viewer.camera import Camera
from twin.viewer.camera import context_type
platform = twin.load("srspm")
with Camera(platform, width=32, height=24) as camera:
    print(context_type().__module__, camera.image(platform.home).std() > 1.0)
"""


def test_without_graphics_software_draws():
    """EGL finds no device where it looks for drivers in an empty place."""
    said = drawn_by(TAKE, __EGL_VENDOR_LIBRARY_DIRS="/nowhere")
    if "MissingDependencyError" in said:
        assert "apt-get install libegl1 libgl1-mesa-dri" in said
        assert "egl: no device" in said
    else:
        assert "mujoco.osmesa True" in said


def test_what_is_asked_for_is_tried_alone():
    said = drawn_by(TAKE, MUJOCO_GL="glfw")
    assert "MissingDependencyError" in said and "glfw:" in said and "egl:" not in said
    assert "MUJOCO_GL" in drawn_by(TAKE, MUJOCO_GL="off")


# The window.


def test_a_window_needs_a_display(stewart, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if sys.platform == "linux":
        with pytest.raises(StateError, match="rgb_array"):
            Window(stewart)


WATCH = """
import threading, time, twin
from twin.viewer.window import Window
platform = twin.load("srspm")
for _ in range(2):
    with Window(platform, period=0.02, ghost=True) as window:
        start = time.monotonic()
        for _ in range(11):
            window.show(platform.home, ghost=platform.home)
        print("open", window.is_open, 0.2 <= time.monotonic() - start, threading.active_count())
    window.show(platform.home)
    print("closed", window.is_open, threading.active_count())
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="needs xvfb")
def test_windows_open_and_close_on_a_virtual_display():
    done = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-c", WATCH], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split("\n")[:4] == ["open True True 2", "closed False 1"] * 2, done.stderr


def test_a_display_that_is_none_is_said_so():
    """MuJoCo's viewer would wait for its thread for ever."""
    said = drawn_by(WATCH, DISPLAY=":4711")
    assert "StateError" in said and "display does not draw" in said
