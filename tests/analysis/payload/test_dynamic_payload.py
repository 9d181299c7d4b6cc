"""Largest payloads under shaking: against inverse dynamics, the thesis, bounds of phases."""

import json

import numpy as np
import pytest
from console import console
from refusals import assert_all_refused
from tolerance import assert_within, max_abs

import twin
from twin.analysis.payload.body import scaled_payload
from twin.analysis.payload.dynamic import dynamic_payload, phase_bounds
from twin.analysis.payload.static import THESIS_CRITERION, Criterion, VibrationTest
from twin.basics.arrays import quaternion_product
from twin.model.machine_base import changed

MIDDLE = [9.0 / 23.0, 14.0 / 23.0]
"""Shares of a small grid: 64 positions."""

PUBLISHED = (0.15, 0.05, 0.05, 0.15, 0.05, 0.05)
"""[m] Thesis, section 4.2.2: where 550 kg is said to fail."""


@pytest.fixture(scope="module")
def shaken(stewart):
    """Return the thesis's search, axes in phase."""
    return dynamic_payload(stewart)


def forces_along(machine, criterion, frequency, pose, count=360):
    """Return the forces `(count, n)` of a machine that shakes about a pose, on its own."""
    sample = criterion.samples(frequency, count)
    center = np.broadcast_to(pose, (count, 7))
    attitude = quaternion_product(sample.pose[:, 3:], center[:, 3:])
    poses = np.hstack([center[:, :3] + sample.pose[:, :3], attitude])
    return machine.inverse_dynamics(poses, sample.twist, sample.acceleration)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limit", "sense", "backwards"),
    [
        ("stewart", 3073.0, "magnitude", False),
        ("srspm", 500.0, "signed", True),
        ("rss", 9e3, "magnitude", True),
    ],
)
def test_mass_of_a_run_brings_one_actuator_to_its_limit(name, limit, sense, backwards):
    machine = twin.load(name)
    criterion = THESIS_CRITERION._replace(phases=np.array([0.0, 0.4, 1.0, 2.0, 3.0, 4.0]))
    criterion = criterion.backwards() if backwards else criterion
    shaken = VibrationTest(machine, limit, sense, checked=False)
    runs = shaken.run(criterion, 12.0, machine.home[None], 360)
    mass, leg = float(runs.mass[0]), int(runs.leg[0])
    forces = forces_along(scaled_payload(machine, mass), criterion, 12.0, machine.home)
    sizes = np.abs(forces) if sense == "magnitude" else forces
    assert sizes.max() == pytest.approx(limit, rel=1e-9)
    assert sizes[:, leg - 1].max() == pytest.approx(limit, rel=1e-9)


def test_motion_has_the_peaks_asked_for():
    sample = THESIS_CRITERION.samples(62.0, 360)
    peaks = np.abs(sample.acceleration).max(axis=0)
    # The angles are 2e-5 rad: yaw, pitch and roll turn about z, y and x.
    assert peaks == pytest.approx([2.0, 2.0, 2.5, 0.5, 3.0, 1.0], rel=1e-4)


def test_backwards_motion_is_the_inverse_rotation_in_time():
    forwards = THESIS_CRITERION.samples(2.0, 1440)
    backwards = THESIS_CRITERION.backwards().samples(2.0, 1440)
    product = quaternion_product(forwards.pose[:, 3:], backwards.pose[:, 3:])
    assert max_abs(np.abs(product) - [1.0, 0.0, 0.0, 0.0]) < 1e-14
    assert np.array_equal(forwards.twist[:, :3], backwards.twist[:, :3])
    step = 0.5 / 1440.0
    slope = np.gradient(backwards.twist, step, axis=0)[2:-2]
    assert_within(slope, backwards.acceleration[2:-2], 1e-4)
    rate = np.gradient(backwards.pose[:, 3:], step, axis=0)
    conjugate = backwards.pose[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    omega = 2.0 * quaternion_product(rate, conjugate)[:, 1:]
    assert_within(omega[2:-2], backwards.twist[2:-2, 3:], 1e-5)


def test_axes_in_phase(stewart, shaken):
    assert (shaken.passes_kg, shaken.fails_kg) == (450.0, 500.0)
    assert shaken.first_failure == pytest.approx([0.05, 0.05, 0.2, 0.2, 0.05, 0.05], abs=1e-12)
    assert shaken.first_failure_frequency == 12.0
    assert shaken.exact_limit_kg == pytest.approx(476.148, abs=1e-3)
    row = np.abs(shaken.extensions - shaken.exact_position).max(axis=1).argmin()
    loaded = scaled_payload(stewart, shaken.exact_limit_kg)
    forces = forces_along(loaded, THESIS_CRITERION, shaken.exact_frequency, shaken.poses[row])
    assert max_abs(forces) == pytest.approx(3073.0, rel=1e-9)
    # Random runs: none of them stands less.
    draws = np.random.default_rng(3).integers(0, 4096, 40)
    for position in draws:
        forces = forces_along(loaded, THESIS_CRITERION, 22.0, shaken.poses[position], 90)
        assert max_abs(forces) <= 3073.0 * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("name", "limit", "sense"),
    [
        ("stewart", None, "magnitude"),
        ("stewart", None, "signed"),
        ("srspm", 500.0, "signed"),
        ("rss", 9e3, "magnitude"),
    ],
)
def test_no_phases_are_worse_than_the_bound(name, limit, sense):
    machine = twin.load(name)
    shaken = VibrationTest(machine, limit, sense, checked=False)
    pose = machine.home[None]
    bounds, patterns = phase_bounds(shaken, THESIS_CRITERION, pose)
    # At 200 Hz displacements are a millionth of a metre.
    own = shaken.run(THESIS_CRITERION._replace(phases=patterns[0]), 200.0, pose, 360)
    assert own.mass[0] == pytest.approx(bounds[0], rel=1e-4)
    draws = np.random.default_rng(1).uniform(0.0, 2.0 * np.pi, (40, 6))
    for phases in draws:
        run = shaken.run(THESIS_CRITERION._replace(phases=phases), 200.0, pose, 72)
        assert run.mass[0] >= bounds[0] * (1.0 - 1e-4)


def test_published_position_stands_the_published_payload_in_all_phases(stewart, shaken):
    row = np.abs(shaken.extensions - PUBLISHED).max(axis=1).argmin()
    assert shaken.extensions[row] == pytest.approx(PUBLISHED, abs=1e-12)
    pose, machine = shaken.poses[row : row + 1], VibrationTest(stewart)
    (bound,), (pattern,) = phase_bounds(machine, THESIS_CRITERION, pose)
    assert bound == pytest.approx(561.84, abs=0.01)
    draws = np.random.default_rng(2).uniform(0.0, 2.0 * np.pi, (60, 6))
    for phases in [*draws, pattern]:
        criterion = THESIS_CRITERION._replace(phases=phases)
        for turned in (criterion, criterion.backwards()):
            assert machine.run(turned, 22.0, pose, 72).mass[0] > 555.0


def test_checked_runs_can_be_ignored(stewart):
    heavy = dynamic_payload(stewart, shares=MIDDLE, checked=False)
    assert not any(heavy.left_out)
    low = dynamic_payload(stewart, shares=[0.001, 0.5])
    assert (low.outcomes[:, 0] > 0.0).all()
    assert (low.outcomes[0] == 1.0).any(), "at the end of the stroke nothing is left to move"


def test_motions_that_no_position_can_make_have_no_payload(stewart):
    slow = Criterion.of({"x": 2.0, "z": 2.5}, [0.5])
    found = dynamic_payload(stewart, slow, shares=MIDDLE)
    assert (found.passes_kg, found.fails_kg, found.first_failure) == (None, None, None)


def test_a_machine_that_holds_every_mass_has_no_limit(stewart):
    content = stewart.parameters.model_dump()
    content["home"]["position"] = (0.0, 0.0, -0.8716)
    criterion = Criterion.of({"z": 0.1}, [2.0])
    found = dynamic_payload(changed(stewart, content), criterion, sense="signed", limit=1e4)
    assert not any(found.left_out)
    assert found.passes_kg is not None
    assert (found.fails_kg, found.exact_limit_kg) == (None, np.inf)


def test_what_cannot_be_shaken_is_told():
    assert_all_refused(
        lambda name, options: dynamic_payload(twin.load(name), **options),
        [
            ("driving_simulator", {"limit": 2000.0}, "3 degrees of freedom"),
            ("compliant_stewart", {}, "give way"),
            ("rss", {}, "gives no largest N m"),
            ("stewart", {"sense": "pull"}, "sense"),
        ],
    )


def test_criteria_are_checked():
    assert_all_refused(
        Criterion.of,
        [
            ({}, [2.0], "at least one axis"),
            ({"x": 1.0}, [], "frequencies"),
            ({"x": 1.0}, [0.0], "frequencies"),
            ({"surge": 1.0}, [2.0], "surge"),
            ({"x": float("inf")}, [2.0], "finite"),
        ],
    )


@pytest.mark.slow
def test_command_shakes_too(tmp_path):
    file, page = tmp_path / "payload.json", tmp_path / "payload.html"
    arguments = ["payload", "stewart", "--dynamic", "--json", str(file), "--report", str(page)]
    console(*arguments)
    content = json.loads(file.read_text())["dynamic"]
    assert content["in_phase"]["passes_kg"] == 450
    backwards = content["backwards"]
    assert (backwards["passes_kg"], backwards["fails_kg"]) == (450, 500)
    assert backwards["left_out"] == [3166, 0, 0, 0, 0, 0, 0]
    assert backwards["exact_limit_kg"] == pytest.approx(468.847, abs=1e-3)
    assert "plotly-graph-div" in page.read_text()
