"""Responses of controlled machines: measured against the exact loop model."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import assert_all_refused, refused
from tolerance import assert_within, max_abs

import twin
from twin.analysis.frequency.measured import ExcitationError, measure_response, measured_figure
from twin.analysis.frequency.response import (
    actuator_path,
    axis_path,
    delay_of,
    exact_response,
    response_figures,
    suitable_speed,
)
from twin.control.cascade import Cascade
from twin.control.linear import with_drives
from twin.papers.stewart_thesis import (
    LoopModel,
    actuator_modes,
    lagging_machine,
    machine_loop,
    modelled_response,
    path_mass,
)

LINES = (40.0, 120.0, 230.0)
STEP = 2.5e-4


def compared(platform, loop, **options):
    """Return the largest error of all measured responses against the model."""
    measured = measure_response(
        platform, method="stepped", frequencies=LINES, timestep=STEP, **options
    )
    axis, actuator = options.get("axis"), options.get("actuator")
    path = axis_path(platform, axis) if axis else actuator_path(platform, actuator)
    whole, legs = modelled_response(platform, path, loop, measured.platform.frequency)
    assert set(legs) == set(measured.actuators)
    pairs = [(measured.platform, whole), *((measured.actuators[k], legs[k]) for k in legs)]
    return max(float(max_abs(one.gain / two.gain - 1.0)) for one, two in pairs)


@pytest.mark.parametrize("name", ["stewart", "srspm", "driving_simulator"])
def test_measured_responses_are_those_of_the_model(name):
    platform = twin.load(name)
    loop = machine_loop(platform, 1.0, step=STEP)
    assert compared(platform, loop, axis="pitch") < 5e-3


def test_single_actuators_and_engines():
    platform = twin.load("stewart")
    loop = machine_loop(platform, 1.0, step=STEP)
    assert compared(platform, loop, actuator=2) < 5e-3
    pytest.importorskip("mujoco")
    assert compared(platform, loop, axis="pitch", engine="mujoco") < 5e-3


def test_lag_and_delay_of_drives_are_in_the_model():
    platform = lagging_machine(twin.load("stewart"), 8e-4, 2e-3)
    loop = machine_loop(platform, 1.0, step=STEP)
    assert (loop.current_lag, loop.delay) == (8e-4, 2e-3)
    assert compared(platform, loop, axis="pitch") < 5e-3
    with refused("ideal drives"):
        lagging_machine(platform, 1e-3)


def test_chirp_tells_the_same_with_coherence():
    platform = twin.load("stewart")
    measured = measure_response(platform, axis="z", low=20.0, length=3.0, timestep=STEP)
    path = axis_path(platform, "z")
    whole, _ = modelled_response(
        platform, path, machine_loop(platform, 1.0, step=STEP), measured.platform.frequency
    )
    assert_within(measured.platform.gain, whole.gain, 0.03)
    assert measured.platform.coherence.min() > 0.99
    assert len(measured_figure(measured).data) == 3 * 7


def test_masses_of_the_actuators():
    platform = twin.load("stewart")
    modes = actuator_modes(platform)
    mobility = modes.shapes / modes.masses @ modes.shapes.T
    jacobian = platform.jacobian(platform.home)
    expected = jacobian @ np.linalg.inv(platform.mass_matrix(platform.home)) @ jacobian.T
    assert_within(mobility, expected, 1e-9 * expected.max())
    assert path_mass(platform, axis_path(platform, "z")) == pytest.approx(33.537, rel=1e-4)
    assert path_mass(platform, axis_path(platform, "pitch")) == pytest.approx(15.515, rel=1e-3)
    heavy = actuator_modes(twin.load("stewart", "hardware")).masses
    assert_allclose(heavy - modes.masses, 719.0, rtol=2e-3)
    free = actuator_modes(twin.load("driving_simulator")).masses
    assert np.isinf(free).sum() == 1


@pytest.mark.quick
@pytest.mark.parametrize("name", ["tripod", "balancer"])
def test_an_actuator_of_three_moves_alone(name):
    platform = twin.load(name)
    path = actuator_path(platform, 2)
    assert_within(platform.jacobian(platform.home) @ path.twist, [0.0, 1.0, 0.0], 1e-12)
    assert_within(platform.constraints(platform.home) @ path.twist, np.zeros(3), 1e-12)


def test_paths_are_checked():
    stewart, simulator = twin.load("stewart"), twin.load("driving_simulator")
    assert_all_refused(axis_path, [(simulator, "yaw", "yaw"), (stewart, "w", "w")])
    assert_all_refused(actuator_path, [(stewart, 7, "actuator"), (simulator, 1, "actuator")])
    assert_all_refused(
        lambda options: measure_response(stewart, **options),
        [
            ({}, None),
            ({"axis": "z", "method": "noise"}, "method"),
            ({"axis": "z", "speed": 100.0, "low": 1.0}, "speed"),
            ({"axis": "z", "timestep": 0.0}, "timestep"),
            ({"axis": "z", "frequencies": [1.0, 2.0]}, "frequencies"),
            ({"axis": "z", "method": "stepped", "speed": 3e-3, "low": 0.0}, "low"),
            ({"axis": "z", "method": "stepped", "low": 400.0}, "low, high"),
        ],
    )


def test_a_machine_that_must_be_stopped_is_no_response():
    with pytest.raises(ExcitationError, match="stopped"):
        measure_response(
            twin.load("stewart"),
            axis="z",
            low=5.0,
            length=1.0,
            timestep=1e-3,
            controller=lambda p, r: Cascade(p, r, velocity_gain=2e5),
        )


def test_figures_of_a_second_order_system_with_delay():
    frequency = np.arange(1.0, 400.0)
    ratio, damping, late = frequency / 150.0, 0.25, 2e-3
    gain = np.exp(-2j * np.pi * frequency * late) / (1.0 - ratio**2 + 2j * damping * ratio)
    figures = response_figures(exact_response(frequency, gain))
    top = 150.0 * math.sqrt(1.0 - 2.0 * damping**2)
    peak = -20.0 * math.log10(2.0 * damping * math.sqrt(1.0 - damping**2))
    assert figures.peak == pytest.approx(peak, abs=1e-3)
    assert figures.peak_frequency == pytest.approx(top, abs=1.0)
    inner = 1.0 - 2.0 * damping**2
    edge = 150.0 * math.sqrt(inner + math.sqrt(inner**2 - 1.0 + 10.0**0.3))
    assert figures.bandwidth == pytest.approx(edge, abs=0.1)
    pure = exact_response(frequency, np.exp(-2j * np.pi * frequency * late))
    assert delay_of(pure, 300.0) == pytest.approx(late)
    assert math.isnan(response_figures(pure).bandwidth)


def test_delay_and_gain_make_a_loop_unstable():
    assert LoopModel(15.5).stable
    assert not LoopModel(15.5, inner_delay=1e-3).stable
    assert not LoopModel(15.5, position_gain=2000.0).stable


def test_servos_are_excited_below_their_update_rate_and_within_their_travel():
    platform = twin.load("sg90_servo", "hardware")
    path = axis_path(platform, "z")
    slow, fast = (
        suitable_speed(platform, path, low, 20.0).value * max_abs(path.rates) for low in (0.1, 1.0)
    )
    room = np.radians(45.0) - max_abs(platform.inverse_kinematics(platform.home))
    assert slow / (2.0 * np.pi * 0.1) == pytest.approx(0.2 * room)
    assert slow < fast <= 0.25 * np.radians(600.0) * (1.0 + 1e-9)
    with refused("take positions"):
        with_drives(platform.linearise())


@pytest.mark.slow
def test_the_default_speed_is_seen_beside_friction_and_counts(subtests):
    """Half of the frequencies and more were lost at a tenth of the effort at 300 Hz."""
    for name in ["moog_6dof2000e", "pi_h824", "esa_hydra"]:
        with subtests.test(f"{name}"):
            platform = twin.load(name, "hardware")
            found = measure_response(platform, axis="z", length=6.0)
            assert found.platform.coherence.min() > 0.9
            limit = np.array([leg.actuator.speed for leg in platform.parameters.legs])
            rates = np.abs(axis_path(platform, "z").rates) * found.excitation.speed
            assert (rates < 0.5 * limit).all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "axis"), [("linuxcnc_hexapod", "z"), ("stewart", "x")])
def test_friction_at_lower_frequencies_does_not_hide_the_response(name, axis):
    """Of 150 frequencies 29 and 129 were lost to harmonics of lower ones."""
    found = measure_response(twin.load(name, "hardware"), axis=axis)
    assert found.platform.coherence.min() > 0.5


@pytest.mark.parametrize(
    ("name", "limit"),
    [("linuxcnc_hexapod", "acceleration"), ("stewart", "force"), ("moog_6dof2000e", "")],
)
def test_the_limit_of_the_default_speed_is_named(name, limit):
    platform = twin.load(name, "hardware")
    assert suitable_speed(platform, axis_path(platform, "z"), 1.0, 300.0).limit == limit


def test_a_lowest_frequency_below_zero_is_refused_whatever_the_drives():
    for name in ("stewart", "compliant_stewart"):
        platform = twin.load(name)
        with refused(field="low"):
            suitable_speed(platform, axis_path(platform, "z"), -1.0, 20.0)


def test_servos_follow_slow_sines():
    """Up to 20 Hz at 50 positions a second; without encoders, so the coordinates themselves."""
    platform = twin.load("sg90_servo", "hardware")
    found = measure_response(platform, axis="z", length=6.0, timestep=5e-4)
    assert found.platform.frequency[-1] <= 20.0
    assert (found.platform.coherence > 0.5).all()
    assert np.abs(found.platform.magnitude[0]) < 1.0
    for leg in found.actuators.values():
        assert_allclose(leg.gain, found.platform.gain, rtol=0.1)
