"""Default motions: within travel, speed and force of shipped machines and of one's own."""

import numpy as np
import pytest
from own_machines import OWN, own_machine
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.motion import RecordedMotion, SineMotion
from twin.motion.recording import (
    BASE_AXES,
    FITTED_LIMIT_USE,
    MAX_LIMIT_USE,
    constrained_motion,
    fitted_motion,
    free_axes,
    limit_use,
)
from twin.motion.specification import MotionSpecification, default_amplitude

pytestmark = pytest.mark.quick

MOTIONS = (("sine", "z"), ("sine", "yaw"), ("step", "z"), ("lift", "x"), ("chirp", "roll"))


@pytest.mark.slow
def test_default_motions_keep_every_limit(subtests, tmp_path):
    for name in OWN:
        with subtests.test(f"{name}"):
            platform = twin.load(own_machine(name, tmp_path))
            for kind, axis in (*MOTIONS, ("tank", "z")):
                motion = MotionSpecification(kind, axis).motion_of(platform)
                assert motion is not None
                assert 0.01 < limit_use(platform, motion) <= MAX_LIMIT_USE, (kind, axis)
                shown = np.linspace(0.0, motion.duration, 401)
                assert platform.within_limits(platform.constrain(motion(shown).pose).pose).all()


def test_a_motion_that_fits_is_left_as_it_is(subtests, stewart):
    for kind in ["sine", "lift", "chirp"]:
        with subtests.test(f"{kind}"):
            usual = default_amplitude(stewart, "z")
            motion = MotionSpecification(kind, "z").motion_of(stewart)
            asked = MotionSpecification(kind, "z", usual).motion_of(stewart)
            assert motion is not None
            assert asked is not None
            time = np.linspace(0.0, 4.0, 101)
            assert np.array_equal(motion(time).pose, asked(time).pose)


@pytest.mark.parametrize("duration", [4e-4, 6e-4])
def test_a_very_short_motion_is_fitted_too(stewart, duration):
    motion = MotionSpecification("sine", "z", duration=duration).motion_of(stewart)
    assert motion is not None
    assert limit_use(stewart, motion) == pytest.approx(0.8, rel=0.05)


def test_the_sizes_of_a_fitted_motion_follow_the_limit_that_binds(stewart):
    def make(size):
        return SineMotion(stewart.home, amplitude={"z": size}, frequency=3.0, duration=1.0)

    _, half = fitted_motion(stewart, make, 0.1, 0.4)
    _, whole = fitted_motion(stewart, make, 0.1, 0.8)
    speed = stewart.parameters.leg.actuator.speed
    rise = abs(stewart.jacobian(stewart.home)[:, 2]).max()
    assert 0.7 < whole * rise * 6.0 * np.pi / speed < 0.95
    assert half == pytest.approx(0.5 * whole, rel=0.1)


def test_a_motion_takes_a_share_of_the_force_that_is_left_at_rest(stewart):
    rest = np.zeros(6)
    held = float(max_abs(stewart.inverse_dynamics(stewart.home, rest, rest)))
    weak = stewart.with_(parameters={"leg.actuator.force": 1.1 * held})

    def make(size):
        return SineMotion(weak.home, amplitude={"z": size}, frequency=3.0, duration=1.0)

    motion, _ = fitted_motion(weak, make, 0.1)
    course = weak.constrain(*motion(np.linspace(0.0, 1.0, 2001)))
    used = (max_abs(weak.inverse_dynamics(*course)) - held) / (0.1 * held)
    assert 0.6 < used < MAX_LIMIT_USE


def test_near_an_end_a_step_goes_where_there_is_room(tmp_path):
    file = own_machine("low_home", tmp_path)
    low = twin.load(file)
    high = tmp_path / "high.toml"
    stroke = low.maximum_coordinates[0] - low.minimum_coordinates[0]
    ends = (low.home_coordinates[0] - 0.98 * stroke, low.home_coordinates[0] + 0.02 * stroke)
    text = file.read_text(encoding="utf-8")
    for name, end in zip(("minimum", "maximum"), ends, strict=True):
        before = next(line for line in text.splitlines() if line.startswith(name))
        text = text.replace(before, f"{name} = {end}")
    high.write_text(text, encoding="utf-8")
    for platform, side in ((low, 1.0), (twin.load(high), -1.0)):
        motion = MotionSpecification("step", "z").motion_of(platform)
        assert motion is not None
        assert side * (motion(4.0).pose[2] - platform.home[2]) > 0.015


def test_a_home_at_an_end_is_said(tmp_path):
    file = own_machine("low_home", tmp_path)
    platform = twin.load(file)
    text = file.read_text(encoding="utf-8")
    before = next(line for line in text.splitlines() if line.startswith("minimum"))
    low = float(platform.home_coordinates.min()) - 1e-9
    file.write_text(text.replace(before, f"minimum = {low!r}"))
    with refused("no room about its home"):
        MotionSpecification("sine", "z").motion_of(twin.load(file))


def test_the_peak_of_a_drive_is_a_limit_of_force_too():
    """Struts of the positioning hexapod are stiff: 2000 N stretch one by 100 um."""
    sizes = []
    for configuration in (None, "hardware"):
        machine = twin.load("micro_hexapod", configuration)
        specification = MotionSpecification("sine", "z", None, 1.0, 2.0)
        motion = specification.motion_of(machine)
        assert motion is not None
        course = motion(np.linspace(0.0, 2.0, 201))
        sizes.append(float(np.ptp(course.pose[:, 2])))
        assert limit_use(machine, motion) <= FITTED_LIMIT_USE * (1.0 + 1e-6)
    assert sizes[1] < 2e-4 < sizes[0]


def test_only_axes_that_a_machine_can_move_are_followed(subtests):
    for axis in BASE_AXES:
        with subtests.test(f"{axis}"):
            platform, time = twin.load("driving_simulator"), np.linspace(0.0, 1.0, 21)
            motion = SineMotion(platform.home, amplitude={axis: 0.02}, frequency=1.0, duration=1.0)
            if axis in free_axes(platform):
                assert max_abs(constrained_motion(platform, motion, time).twist) > 0.01
            else:
                with refused("its axes are z, roll, pitch"):
                    constrained_motion(platform, motion, time)
            assert free_axes(twin.load("stewart")) == BASE_AXES


def test_what_constraints_add_to_a_motion_may_be_given_with_it():
    """A recorded motion of the machine has the x and y that come with roll and pitch."""
    platform, time = twin.load("driving_simulator"), np.linspace(0.0, 1.0, 101)
    tilt = SineMotion(platform.home, amplitude={"pitch": 0.04}, frequency=1.0, duration=1.0)
    moved = constrained_motion(platform, tilt, time)
    columns = {"x": moved.pose[:, 0] - platform.home[0], "pitch": tilt.axes(time).values[:, 4]}
    recorded = RecordedMotion(platform.home, time, columns)
    assert max_abs(columns["x"]) > 1e-3
    assert_within(constrained_motion(platform, recorded, time).pose, moved.pose, 1e-9)
