"""Films and pictures of runs, read back: how many, how large, how long, and what moves in them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from console import console
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within
from turns import turn_of

import twin
from twin.machine.payload.occupant import Occupant
from twin.simulation.simulate import RecordedScenes, Trajectory
from twin.viewer import film
from twin.viewer.camera import write_images
from twin.viewer.film import Look, write_film, write_picture
from twin.viewer.scene_model import HIDDEN_GROUP

pytestmark = pytest.mark.pages

SMALL = Look(width=96, height=72)

Pictures = NDArray[np.uint8]


class Clip(NamedTuple):
    """A film, read back."""

    pictures: Pictures
    """`(k, height, width, 3)`"""
    duration: float
    """[s]"""


def lifted(platform, height, turn=0.0, duration=0.4):
    """Return a run that rises by `height` [m] and yaws by `turn` [rad], the setpoint higher."""
    time = np.linspace(0.0, duration, 21)
    share = time[:, None] / duration
    pose = np.tile(platform.home, (len(time), 1))
    pose[:, 2:3] += height * share
    turned = Rotation.from_rotvec(turn * share * [0.0, 0.0, 1.0]) * turn_of(platform.home)
    pose[:, 3:] = turned.as_quat(scalar_first=True)
    setpoint = np.add(pose, [0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
    none = np.zeros((len(time), platform.n_actuators))
    return Trajectory(
        time=time,
        pose=pose,
        twist=np.zeros((len(time), 6)),
        lengths=none,
        rates=none,
        forces=none,
        machine=platform.name,
        engine="made up",
        fidelity="",
        timestep=0.02,
        parameters_hash=platform.hash,
        versions={},
        signals={"time": time, "reference_pose": setpoint},
    )


@pytest.fixture(scope="module")
def rise(stewart):
    """A run of 0.4 s that rises by 80 mm."""
    return lifted(stewart, 0.08)


def read_gif(path):
    """Return the pictures of a GIF, which must repeat for ever."""
    from PIL import Image, ImageSequence

    with Image.open(path) as opened:
        assert opened.info["loop"] == 0
        pictures, times = [], []
        for each in ImageSequence.Iterator(opened):
            pictures.append(np.asarray(each.convert("RGB")))
            times.append(each.info["duration"])
    return Clip(np.array(pictures), 1e-3 * sum(times))


def read_mp4(path):
    """Return the pictures of a clip that browsers play."""
    import imageio_ffmpeg

    frames = imageio_ffmpeg.read_frames(str(path))
    about = next(frames)
    assert about["codec"] == "h264" and about["pix_fmt"].startswith("yuv420p(tv, bt709")
    width, height = about["size"]
    pictures = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in frames]
    return Clip(np.array(pictures), about["duration"])


def read_png(path):
    """Return a picture `(height, width, 3)`."""
    from PIL import Image

    with Image.open(path) as opened:
        return np.asarray(opened.convert("RGB"))


def drawn(platform, run, time, look=SMALL):
    """Return what a camera sees at an instant, from where films see it."""
    scenes = RecordedScenes(run)
    with film.run_camera(platform, scenes, look) as camera:
        return film.image_at(camera, scenes, time, look.ghost)


READERS = {".gif": read_gif, ".mp4": read_mp4}


# Films.


@pytest.mark.parametrize("ending", READERS)
def test_films_show_the_run(ending, rise, stewart, tmp_path):
    """0.4 s at 20 pictures per second are 8, each as the camera sees its instant."""
    file = tmp_path / f"rise{ending}"
    assert write_film(rise, stewart, file, look=SMALL, rate=20.0) == file
    clip = READERS[ending](file)
    assert clip.pictures.shape == (8, 72, 96, 3)
    assert_within(clip.duration, 0.4, 0.011)
    for number in (0, 4, 7):
        seen = drawn(stewart, rise, number / 20.0)
        error = np.abs(clip.pictures[number].astype(int) - seen)
        assert error.mean() < 4.0
        other = np.abs(clip.pictures[number].astype(int) - drawn(stewart, rise, 0.4 - number / 20))
        assert error.mean() < other.mean() or number == 4
    assert list(tmp_path.iterdir()) == [file]


def test_slow_motion_and_a_later_start(rise, stewart, tmp_path):
    """The last quarter of a run, ten times slower: 10 pictures of 0.1 s."""
    file = write_film(
        rise, stewart, tmp_path / "rise.gif", look=SMALL, rate=10.0, speed=0.1, start=0.3
    )
    clip = read_gif(file)
    assert len(clip.pictures) == 10
    assert_within(clip.duration, 1.0, 1e-9)
    error = np.abs(clip.pictures[0].astype(int) - drawn(stewart, rise, 0.3))
    assert error.mean() < 4.0


def test_gifs_count_in_hundredths_and_lose_no_time(tmp_path):
    """At 15 pictures per second each should stay for 66.7 ms: some stay 70, some 60."""
    noise = np.random.default_rng(1).integers(0, 255, (45, 8, 8, 3), dtype=np.uint8)
    file = write_images(tmp_path / "noise.gif", iter(noise), (8, 8), 15.0)
    assert_within(read_gif(file).duration, 3.0, 1e-9)


def test_small_parts_keep_their_colour_in_gifs(tmp_path):
    """Four orange pixels on a large ramp of greys."""
    image = np.repeat(np.arange(0, 250, dtype=np.uint8)[:, None, None], 3, axis=2)
    image = np.repeat(image, 250, axis=1)
    image[100:102, 100:102] = (240, 100, 20)
    file = write_images(tmp_path / "ramp.gif", iter([image]), (250, 250), 15.0)
    error = np.abs(read_gif(file).pictures[0].astype(int) - image)
    assert error[100:102, 100:102].max() < 12
    assert error.mean() < 2.0


@pytest.mark.parametrize("height", [0.08, 3.0])
def test_all_of_a_motion_is_in_the_frame(height, stewart):
    """The border of the picture shows the room alone, even where legs grow by 3 m."""
    run = lifted(stewart, height)
    scenes = RecordedScenes(run)
    with film.run_camera(stewart, scenes, SMALL) as camera:
        pictures = [film.image_at(camera, scenes, time, False) for time in (0.0, 0.4)]
        model = camera.scene_model.model
        model.geom_group[np.arange(model.ngeom) != model.geom("floor").id] = HIDDEN_GROUP
        room = camera.image(stewart.home)
    for picture in pictures:
        different = (np.abs(picture.astype(int) - room).max(axis=2) > 8).nonzero()
        assert all(place.min() > 0 for place in different)
        assert different[0].max() < 71 and different[1].max() < 95


# Pictures.


def test_the_usual_instant_is_the_widest(stewart, tmp_path):
    run = lifted(stewart, 0.0, turn=0.2)
    there_and_back = replace(run, pose=np.concatenate([run.pose[:15], run.pose[5::-1]]))
    assert RecordedScenes(there_and_back).farthest_time() == run.time[14]
    file = write_picture(there_and_back, stewart, tmp_path / "turn.png", look=SMALL)
    assert_array_equal(read_png(file), drawn(stewart, there_and_back, float(run.time[14])))


def test_the_ghost_is_drawn_where_it_is_wanted(rise, stewart):
    with_ghost = drawn(stewart, rise, 0.2, SMALL._replace(ghost=True)).astype(int)
    green = with_ghost[..., 1] > with_ghost[..., [0, 2]].max(axis=2) + 10
    assert green.sum() > 100
    plain = drawn(stewart, rise, 0.2).astype(int)
    assert not (plain[..., 1] > plain[..., [0, 2]].max(axis=2) + 10).any()


def test_the_payload_courses_along(rise, stewart, tmp_path):
    person = Occupant(stature=1.75, mass=75.0)
    file = write_picture(rise, stewart, tmp_path / "a.png", look=SMALL, payload=person, time=0.2)
    seen = read_png(file).astype(int)
    green = seen[..., 1] > seen[..., [0, 2]].max(axis=2) + 8
    assert green.sum() > 100


# Between rows.


def test_scenes_are_straight_between_rows(stewart):
    run = lifted(stewart, 0.1, turn=0.4)
    scene = RecordedScenes(run).at(0.03)
    assert_allclose(scene.pose[2] - stewart.home[2], 0.0075, rtol=1e-12)
    turn = turn_of(scene.pose) * turn_of(stewart.home).inv()
    assert_within(turn.as_rotvec(), [0.0, 0.0, 0.03], 1e-9)
    assert_allclose(scene.ghost[2] - scene.pose[2], 0.05, rtol=1e-12)


def test_a_quaternion_and_its_opposite_are_one_rotation(stewart):
    run = lifted(stewart, 0.0, turn=0.4)
    sign = np.where(np.arange(len(run)) % 2, -1.0, 1.0)[:, None]
    flipped = replace(run, pose=np.hstack([run.pose[:, :3], sign * run.pose[:, 3:]]))
    for time in (0.0, 0.013, 0.21, 0.4):
        there, same = RecordedScenes(flipped).at(time).pose, RecordedScenes(run).at(time).pose
        assert_within(abs(there[3:] @ same[3:]), 1.0, 1e-12)


def test_before_and_after_a_run_it_stands_still(rise):
    scenes = RecordedScenes(rise)
    assert_array_equal(scenes.at(-1.0).pose, rise.pose[0])
    assert_array_equal(scenes.at(9.0).pose, rise.pose[-1])


def test_springs_move_too():
    platform = twin.load("compliant_stewart")
    run = platform.simulate(0.02, timestep=1e-3)
    scene = RecordedScenes(run).at(0.0105)
    assert_allclose(
        scene.deflection, 0.5 * (run.deflection[10] + run.deflection[11]), rtol=1e-12, atol=1e-15
    )


# What is refused, and what is left behind.


def test_wrong_options_are_named(subtests, rise, stewart, tmp_path):
    for field, name, options in [
        ("path", "rise.png", {}),
        ("size", "rise.mp4", {"look": Look(width=95, height=72)}),
        ("rate", "rise.gif", {"rate": 60.0}),
        ("start", "rise.mp4", {"start": 0.5}),
        ("ghost", "rise.mp4", {"look": SMALL._replace(ghost=1)}),
    ]:
        with subtests.test(f"{field}"):
            with refused(field=field):
                write_film(rise, stewart, tmp_path / name, **({"look": SMALL} | options))
            assert not list(tmp_path.iterdir())


def test_wrong_runs_are_refused(rise, stewart, srspm, tmp_path):
    with refused("is of stewart, not of srspm"):
        write_picture(rise, srspm, tmp_path / "rise.png")
    with refused("trajectory"):
        write_picture("rise.npz", stewart, tmp_path / "rise.png")
    with refused("time"):
        write_picture(rise, stewart, tmp_path / "rise.png", time=np.nan)


# The command.


def test_the_command_draws_a_saved_run(tmp_path):
    """The fidelity that it was made with is found."""
    platform = twin.load("stewart", "hardware")
    rise = lifted(platform, 0.08)
    saved, out = rise.save(tmp_path / "rise.npz"), tmp_path / "rise.png"
    looks = ["--view", "90,-8", "--pixels", "96x72", "--instant", 0.1, "--dark"]
    console("render stewart --replay", saved, *looks, "--out", out)
    seen = drawn(platform, rise, 0.1, SMALL._replace(view=(90.0, -8.0), dark=True))
    assert_array_equal(read_png(out), seen)
    other = console("render srspm --replay", saved, "--out", out, code=2)
    assert "is of a machine 'stewart'" in other.stderr


def test_wrong_arguments_end_in_one_line(subtests, tmp_path, monkeypatch):
    for options, words in [
        ("--out clip.gif --pixels 640", "pixels"),
        ("--out clip.gif --instant 1", "instant"),
        ("--out clip.gif --duration 0.05 --playback 0", "playback: "),
        ("--out clip.png --frame-rate 10", "frame_rate"),
        ("--out clip.png --replay none.npz --motion sine", "leave out"),
    ]:
        with subtests.test(f"{options}"):
            monkeypatch.chdir(tmp_path)
            result = console(f"render stewart {options}", code=2)
            assert words in result.stderr and result.stderr.startswith("twin: ")
            assert not list(tmp_path.iterdir())
