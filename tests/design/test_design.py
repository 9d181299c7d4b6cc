"""Design: the machine meets what was demanded by the judgement of the ordinary functions."""

import tomllib
from itertools import pairwise

import numpy as np
import pytest
from console import console
from refusals import refused
from tolerance import assert_within, max_abs

from twin.analysis.feasibility.collisions import closest_legs
from twin.analysis.feasibility.course import leg_points
from twin.analysis.feasibility.feasibility import feasibility, rest_feasibility
from twin.analysis.feasibility.joint_angles import directions
from twin.analysis.platform import Platform, load
from twin.analysis.stiffness import compliance_matrix, natural_modes
from twin.design import design, front, read_specification
from twin.design.candidates import candidates, free_bounds
from twin.design.demands import assess, needs_of
from twin.design.design import loaded_machine
from twin.design.specification import checked_specification, read_catalogue
from twin.errors import ImpossibleDesignError
from twin.kernels.design import NEED_COUNT, Needs, evaluate
from twin.logs.motion import read_motion
from twin.machine.file.data_sheet.sheet import DataSheet
from twin.machine.file.data_sheet.text import data_sheet_text
from twin.machine.file.read import parameters_from
from twin.rotations import pose_from_angles

HEXAPOD = {
    "ranges": {"x": "40 mm", "z": "25 mm", "pitch": "10 deg", "together": 0.3},
    "payload": {"mass": "20 kg", "height": "50 mm"},
    "limits": {"footprint": "400 mm", "condition": 20},
}

SERVOS = {
    "legs": "rss",
    "ranges": {"x": "10 mm", "z": "10 mm", "roll": "8 deg"},
    "payload": {"mass": "0.5 kg"},
    "limits": {"force": "0.5 N m", "stroke": "120 deg", "footprint": "300 mm"},
}

MOTION_BASE = {
    "ranges": {"z": "0.3 m", "roll": "15 deg"},
    "speeds": {"z": "0.5 m/s"},
    "accelerations": {"x": "6 m/s2"},
    "payload": {"mass": "800 kg", "height": "0.5 m", "radius": "0.5 m"},
    "limits": {"footprint": "2 m"},
    "minimise": "stroke",
}

SPRINGS = {**HEXAPOD, "actuator_stiffness": "20 N/um"}

JOINTS_ANYWHERE = {**HEXAPOD, "symmetry": 3}

EIGHT_LEGS = {**HEXAPOD, "count": 8, "symmetry": 4}

FEW = 40
"""Generations that find a good machine, if not the best."""


def specified(content, **changes):
    """Return a specification with some of its entries changed."""
    return checked_specification({**content, **changes}, "test")


@pytest.fixture(scope="module")
def hexapod():
    return design(specified(HEXAPOD), generations=FEW)


def from_home(platform, offsets):
    """Return poses whose position is given from home."""
    return offsets + np.pad(platform.home[:3], (0, 4))


def axis_poses(platform, axis, ends, count=15):
    """Return poses along one axis from home."""
    moves = np.zeros((count, 6))
    moves[:, axis] = np.linspace(*ends, count)
    offsets = pose_from_angles(moves[:, :3], moves[:, :2:-1])
    return from_home(platform, offsets)


@pytest.mark.quick
def test_machine_does_what_was_demanded(hexapod):
    loaded = loaded_machine(hexapod.specification, hexapod.machine)
    for axis, end in ((0, 0.04), (2, 0.025), (4, np.radians(10.0))):
        poses = axis_poses(loaded, axis, (-end, end))
        places = tuple(map(str, range(len(poses))))
        verdict = rest_feasibility(loaded, poses, places, "demanded")
        assert verdict.feasible, verdict.remedies
        assert np.max(loaded.condition_number(poses)) <= 20.0
    radii = [np.hypot(*points[:, :2].T) for points in (loaded.base_joints, loaded.platform_joints)]
    assert 2.0 * np.max(radii) <= 0.4
    assert all(margin >= 0.0 for margin in hexapod.margins.values())


@pytest.mark.quick
def test_file_holds_the_machine(hexapod):
    machine = Platform(parameters_from(tomllib.loads(hexapod.to_toml()), "test"))
    np.testing.assert_array_equal(machine.constants.legs.rows, hexapod.machine.constants.legs.rows)
    assert machine.parameters.legs[0].actuator.force >= hexapod.figures["force"]


@pytest.mark.quick
def test_no_random_machine_is_better(hexapod):
    specification = hexapod.specification
    bounds = free_bounds(specification)
    values = np.random.default_rng(0).uniform(*bounds.T, (4000, len(bounds)))
    seen = assess(specification, values, specification.tasks())
    holds = seen.excess() == 0.0
    assert holds.sum() > 10
    assert hexapod.figures["force"] < 1.02 * seen.figures["force"][holds].min()


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", [HEXAPOD, MOTION_BASE, SERVOS, SPRINGS, JOINTS_ANYWHERE, EIGHT_LEGS]
)
def test_candidates_need_what_their_machines_need(content):
    """The search sees point masses for legs: forces differ a little, all else is the same."""
    specification = specified(content)
    found = design(specification, generations=FEW)
    values = np.array([[*found.values.values(), *([0.0] if content is SERVOS else [])]])
    machine, tasks = loaded_machine(specification, found.machine), specification.tasks()
    poses = from_home(machine, tasks.offsets)
    needs = needs_of(specification, candidates(specification, values), tasks)
    if content is SERVOS:
        # The other layout of the motors is the mirror image of the machine.
        others = np.array([[*found.values.values(), 1.0]])
        other = needs_of(specification, candidates(specification, others), tasks)
        needs = min(needs, other, key=lambda one: abs(one.force - found.figures["force"]))
    coordinates = machine.inverse_kinematics(poses)
    assert_within(needs.shortest, coordinates.min(), 1e-6)
    assert_within(needs.longest, coordinates.max(), 1e-6)
    rates = np.einsum("kij,kj->ki", machine.jacobian(poses), tasks.twists)
    assert needs.speed == pytest.approx(max_abs(rates), rel=1e-6, abs=1e-12)
    assert needs.condition == pytest.approx(np.max(machine.condition_number(poses)), rel=0.05)
    forces = machine.inverse_dynamics(poses, tasks.twists, tasks.accelerations)
    assert needs.force == pytest.approx(max_abs(forces), rel=0.1)
    assert needs.clearance == pytest.approx(closest_legs(machine, poses)[0], rel=1e-6)
    at_home, along = (
        directions(machine, leg_points(machine, where)) for where in (machine.home[None], poses)
    )
    sides = ("platform",) if content is SERVOS else ("platform", "base")
    for side in sides:
        joint = f"{side}_joint"
        cosines = (getattr(along, joint) * getattr(at_home, joint)).sum(axis=-1)
        widest = np.arccos(np.minimum(cosines, 1.0)).max()
        assert getattr(needs, f"{side}_angle") == pytest.approx(widest, rel=1e-6)
    if content is SPRINGS:
        found_stiffness, slowest = stiffness_and_frequency(machine, poses, 20e6)
        assert 20e6 * needs.stiffness == pytest.approx(found_stiffness, rel=1e-3)
        # The frequency counts the legs' masses.
        omega = 2.0 * np.pi * slowest
        assert 20e6 * needs.frequency == pytest.approx(omega**2, rel=0.05)


def test_forces_of_a_moving_body_are_those_of_inverse_dynamics():
    """On legs without masses: signs of gravity, acceleration and rotation all count."""
    sizes = {"base_radius": "0.5 m", "platform_radius": "0.3 m", "height": "0.6 m"}
    spacings = {"base_spacing": "20 deg", "platform_spacing": "30 deg", "shortest": "0.5 m"}
    light = {"leg_mass": "1e-9 kg", "payload": "50 kg", "stroke": "0.3 m"}
    sheet = DataSheet(**sizes, **spacings, **light)
    machine = Platform(parameters_from(tomllib.loads(data_sheet_text("light", sheet)), "light"))
    random, body = np.random.default_rng(5), machine.parameters.platform.body
    moves = random.uniform(-0.05, 0.05, (20, 6))
    offsets = pose_from_angles(moves[:, :3], moves[:, 3:])
    offsets[0] = [0, 0, 0, 1, 0, 0, 0]
    twists, accelerations = random.normal(size=(2, 20, 6))
    load = np.array([[body.mass, body.center_of_mass_vector[2], *np.diag(body.inertia_tensor)]])
    poses = from_home(machine, offsets)
    expected = np.abs(machine.inverse_dynamics(poses, twists, accelerations)).max(axis=1)
    for k in range(20):
        rows, none, needs = (
            machine.constants.legs.rows[None],
            np.zeros(1),
            np.empty((1, NEED_COUNT)),
        )
        tasks = offsets[[0, k]], twists[[k, k]], accelerations[[k, k]]
        loads = (load, none, none, np.ones(1))
        evaluate(False, False, *tasks, 9.81, rows, machine.home[2:3], *loads, needs)
        at_home = machine.inverse_dynamics(machine.home, twists[k], accelerations[k])
        assert Needs(*needs.T).force == pytest.approx(max(expected[k], max_abs(at_home)), rel=1e-6)


def stiffness_and_frequency(machine, poses, stiffness):
    """Return the least stiffness of translations [N/m] and frequency [Hz] at poses."""
    compliance = compliance_matrix(machine, poses, stiffness=stiffness)[:, :3, :3]
    modes = natural_modes(machine, poses, stiffness=stiffness)
    return 1.0 / np.linalg.eigvalsh(compliance)[:, -1].max(), modes.frequencies.min()


@pytest.mark.slow
def test_least_stiffness_and_frequency_are_met(hexapod):
    """The best machine without these demands misses them; force is what they cost."""
    limits = {**HEXAPOD["limits"], "frequency": "140 Hz", "stiffness": "16 N/um"}
    found = design(specified(SPRINGS, limits=limits), generations=FEW)
    figures = {}
    for name, one in (("with", found), ("without", hexapod)):
        loaded = loaded_machine(found.specification, one.machine)
        poses = np.concatenate(
            [axis_poses(loaded, axis, ends) for axis, ends in ((0, (-0.04, 0.04)), (4, (0, 0.17)))]
        )
        figures[name] = stiffness_and_frequency(loaded, poses, 20e6)
    assert figures["with"][0] >= 16e6
    assert figures["with"][1] >= 140.0
    assert figures["without"][0] < 16e6
    assert figures["without"][1] < 140.0
    assert found.figures["force"] > hexapod.figures["force"]


@pytest.mark.slow
@pytest.mark.parametrize(("content", "count"), [(JOINTS_ANYWHERE, 6), (EIGHT_LEGS, 8)])
def test_joints_anywhere_repeat_and_need_less(hexapod, content, count):
    """Three pairs on circles are one choice of many, and eight legs share the load."""
    found = design(specified(content), generations=FEW)
    turn = 2.0 * np.pi / content["symmetry"]
    cosine, sine = np.cos(turn), np.sin(turn)
    rotation = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    joints = count // content["symmetry"]
    for points in (found.machine.base_joints, found.machine.platform_joints):
        assert points.shape == (count, 3)
        assert_within(points @ rotation.T, np.roll(points, -joints, axis=0), 1e-8)
    assert found.figures["force"] < 0.95 * hexapod.figures["force"]


@pytest.mark.slow
def test_impossible_demands_are_named():
    tight = {**HEXAPOD["limits"], "stroke": "30 mm"}
    with pytest.raises(ImpossibleDesignError, match="stroke") as caught:
        design(specified(HEXAPOD, limits=tight), generations=FEW)
    assert "stroke" in caught.value.data["in_the_way"]


@pytest.mark.slow
def test_demands_that_contradict_each_other_only_together_are_named():
    """Six legs carry 33 N each of the payload, and heave takes a stroke of about 50 mm."""
    limits = {**HEXAPOD["limits"], "force": "20 N", "stroke": "30 mm"}
    with pytest.raises(ImpossibleDesignError, match="together") as caught:
        design(specified(HEXAPOD, limits=limits), generations=FEW)
    assert set(caught.value.data["in_the_way"]) == {"force", "stroke"}


@pytest.mark.slow
def test_best_machine_below_a_limit_is_no_worse_than_another_one_there():
    """Few candidates hold so short a stroke, and the search goes on beyond the first of them."""
    limits = {"footprint": "600 mm", "condition": 20, "stroke": "42.9 mm"}
    specification = specified(HEXAPOD, limits=limits)
    known = np.array([0.1813, np.radians(112.5), 0.1047, np.radians(107.1), 0.216])
    near = known * np.random.default_rng(0).uniform(0.99, 1.01, (2000, 5))
    seen = assess(specification, near, specification.tasks())
    holds = seen.excess() == 0.0
    assert holds.any()
    found = design(specification, generations=120)
    assert found.figures["force"] < 1.02 * seen.figures["force"][holds].min()


@pytest.mark.slow
def test_a_short_pulse_of_a_long_motion_is_met(tmp_path):
    """The ordinary judgement of the motion agrees, although the pulse is short."""
    time = np.arange(0.0, 20.0, 0.01)
    height = 0.005 * np.sin(0.5 * time) + 0.03 * np.exp(-(((time - 7.0) / 0.06) ** 2))
    rows = "\n".join(f"{t:.2f},{z:.9f}" for t, z in zip(time, height, strict=True))
    (tmp_path / "pulse.csv").write_text(f"time [s],z [m]\n{rows}\n", encoding="utf-8")
    file = tmp_path / "design.toml"
    file.write_text('motion = "pulse.csv"\n[payload]\nmass = 20.0\n', encoding="utf-8")
    specification = read_specification(file)
    found = design(specification, generations=FEW)
    motion = read_motion(tmp_path / "pulse.csv", found.machine)
    verdict = feasibility(loaded_machine(specification, found.machine), motion, samples=5001)
    assert verdict.feasible, verdict.remedies


@pytest.mark.slow
def test_a_cueing_run_is_met(tmp_path):
    """The file that `twin cue` writes is a demand on another machine."""
    ride, file = tmp_path / "ride.csv", tmp_path / "design.toml"
    console("cue", "stewart", "--algorithm", "classical", "--out", ride)
    file.write_text('motion = "ride.csv"\n[payload]\nmass = "300 kg"\n', encoding="utf-8")
    specification = read_specification(file)
    found = design(specification, generations=FEW)
    verdict = feasibility(
        loaded_machine(specification, found.machine), read_motion(ride, found.machine), samples=2001
    )
    assert verdict.feasible, verdict.remedies
    assert found.figures["stroke"] > 0.05


@pytest.mark.slow
def test_command_writes_a_machine_that_both_engines_move(tmp_path):
    file, out = tmp_path / "design.toml", tmp_path / "machine.toml"
    file.write_text(
        '[ranges]\nz = "20 mm"\n[payload]\nmass = 5.0\n[limits]\ncondition = 10\nfootprint = 0.3\n',
        encoding="utf-8",
    )
    shown = console("design", file, "--out", out).output
    cases = ("driven_motion", "free_fall", "constant_forces", "sinusoidal_forces")
    assert all(f"{case} pass" in shown for case in cases)
    assert load(out).name == "designed"


@pytest.mark.slow
def test_bounds_follow_from_all_that_is_demanded():
    """Poses ask for as large a machine as ranges do."""
    poses = [[0.5, 0, 0, 0, 0, 0], [-0.5, 0, 0, 0, 0, 0], [0, 0, 0.3, 0, 0, 0]]
    found = design(specified({"poses": poses}), generations=FEW)
    assert found.machine.home[2] > 0.3


def test_numbers_at_a_bound_are_named():
    bounds = {"height": ["0.2 m", "0.21 m"]}
    found = design(specified(HEXAPOD, bounds=bounds), generations=FEW)
    assert "height" in found.at_bounds
    assert "base_radius" not in found.at_bounds


@pytest.mark.quick
def test_a_price_needs_a_catalogue_and_a_front_two_machines():
    with refused("a price needs a catalogue"):
        front(specified(HEXAPOD), "price")
    with refused("points"):
        front(specified(HEXAPOD), "stroke", points=1)
    with refused("seed"):
        design(specified(HEXAPOD), seed=-1)


@pytest.mark.slow
def test_front_trades_one_figure_for_the_other():
    machines = front(specified(HEXAPOD), "stroke", points=3, generations=FEW)
    assert len(machines) == 3
    for one, other in pairwise(machines):
        assert one.figures["stroke"] > other.figures["stroke"]
        assert one.figures["force"] <= 1.01 * other.figures["force"]


CATALOGUE = """name,stroke [mm],retracted [mm],force [N],speed [mm/s],price
short,20,100,500,50,50
weak,150,240,20,50,80
cheap,150,240,500,50,120
strong,150,240,2000,50,300
"""


@pytest.mark.slow
def test_file_has_the_actuator_that_is_named(tmp_path):
    """One that is strong enough for points of mass is too weak for the legs of the machine."""
    plain = specified(HEXAPOD)
    found = design(plain, generations=FEW)
    searched = assess(plain, np.array([[*found.values.values()]]), plain.tasks())
    between = 0.5 * (searched.figures["force"][0] + found.figures["force"])
    rows = (f"weak,150,150,{between},50,1", "strong,150,150,5000,50,2")
    file = tmp_path / "actuators.csv"
    file.write_text("\n".join([CATALOGUE.splitlines()[0], *rows]), encoding="utf-8")
    chosen = design(specified(HEXAPOD, actuators=read_catalogue(file)), generations=FEW)
    force = {"weak": between, "strong": 5000.0}[chosen.actuator]
    assert chosen.machine.parameters.legs[0].actuator.force == pytest.approx(force)
    assert chosen.figures["force"] <= force


@pytest.mark.slow
def test_figures_are_those_of_the_machine_that_is_written(tmp_path):
    """Longer legs of the catalogue are heavier than the shortest ones that would do."""
    file = tmp_path / "actuators.csv"
    file.write_text(CATALOGUE, encoding="utf-8")
    specification = specified(HEXAPOD, actuators=read_catalogue(file))
    found = design(specification, generations=FEW)
    written = Platform(parameters_from(tomllib.loads(found.to_toml()), "test"))
    tasks, loaded = specification.tasks(40), loaded_machine(specification, written)
    poses = from_home(written, tasks.offsets)
    forces = loaded.inverse_dynamics(poses, tasks.twists, tasks.accelerations)
    assert found.figures["force"] == pytest.approx(max_abs(forces), rel=1e-6)


@pytest.mark.slow
def test_cheapest_actuator_that_fits_is_chosen(tmp_path):
    file = tmp_path / "actuators.csv"
    file.write_text(CATALOGUE, encoding="utf-8")
    specification = specified(HEXAPOD, actuators=read_catalogue(file), minimise="price")
    found = design(specification, generations=FEW)
    assert (found.actuator, found.figures["price"]) == ("cheap", 120.0)
    actuator = found.machine.parameters.legs[0].actuator
    assert actuator.stroke == pytest.approx(0.15)
    assert actuator.minimum >= 0.24
    assert actuator.force == 500.0
    machines = front(specification, "force", points=2, generations=FEW)
    assert {machine.specification.minimise for machine in machines} == {"price"}
