"""The shadow beside emulated machines: its state, its alarms, lost samples."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from refusals import refused
from shipped import shipped_content
from three_legs import LIGHT_DRIVES
from tolerance import assert_within, max_abs

from twin.analysis.platform import Platform, load
from twin.control.gains import drive_model
from twin.link.emulated import EmulatedMachine, parse_fault
from twin.machine.file.read import parameters_from
from twin.shadow.model import ShadowModel
from twin.shadow.rehearsal import measured_by, perturbed_machine, work, working_motion
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import (
    INFINITE_THRESHOLDS,
    Thresholds,
    read_thresholds,
    write_thresholds,
)

pytestmark = pytest.mark.quick

LIMITS = Thresholds(friction=25.0, backlash=2e-5, payload=6.0, force=30.0, motor=0.1, jump=6.0)
LEARNING = 2.0
FIRST = 4.0
"""[s] At which faults begin."""


def measurements(machine, seconds, faults=(), seed=1):
    """Yield samples of a machine that differs from its file, at work."""
    reference = working_motion(machine, seconds, seed)
    hidden = perturbed_machine(machine, seed)
    given = [parse_fault(fault) for fault in faults]
    return work(machine, reference, hidden=hidden, faults=given, seed=seed)


def alarms_of(machine, samples):
    """Return a shadow after all samples."""
    shadow = Shadow(machine, thresholds=LIMITS, learning=LEARNING)
    for sample in samples:
        shadow.update(sample)
    return shadow


def causes(shadow):
    """Return kind and leg of all alarms."""
    return [(alarm.kind, alarm.leg) for alarm in shadow.alarms]


def test_the_exact_model_finds_the_truth(stewart):
    """From coordinates alone: pose to a micrometre, forces to what encoders let see."""
    shadow = Shadow(stewart, thresholds=INFINITE_THRESHOLDS)
    errors, forces = [], []
    exact = {"pose": 0.0, "attitude": 0.0, "forces": 0.0}
    for sample in work(stewart, working_motion(stewart, 2.0, 3), noise=exact):
        state = shadow.update(measured_by(sample, ()))
        errors.append(state.pose[:3] - sample.values["pose"][:3])
        forces.append(state.forces - sample.values["forces"])
    late = slice(1500, None)
    assert np.sqrt(np.mean(np.square(errors[late]))) < 1e-6
    # A step of an encoder is 1.24 um: its noise times the third gain is some 30 N a sample.
    assert max_abs(np.mean(forces[late], axis=0)) < 5.0
    assert np.std(forces[late]) < 60.0


@pytest.mark.parametrize("copied", [deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("samples", [0, 5])
def test_copies_of_machine_and_shadow_go_on_alone(stewart, copied, samples):
    machine = EmulatedMachine(stewart)
    shadow = Shadow(stewart, thresholds=INFINITE_THRESHOLDS)
    for _ in range(samples):
        shadow.update(machine.step())
    found = []
    for one, beside in ([machine, shadow], copied([machine, shadow])):
        for _ in range(5):
            state = beside.update(one.step())
        found.append((one.state.pose, state.pose, state.forces))
    for mine, other in zip(*found, strict=True):
        # Copied arrays lie elsewhere in memory, where sums may round in another order.
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_wear_and_lost_counts(stewart):
    """Three faults in three legs, one after the other: three alarms with leg and size."""
    faults = [
        f"counts@{FIRST}s:leg=4,counts=25",
        f"backlash@{FIRST + 0.2}s:leg=3,factor=5,rise=5s",
        f"friction@{FIRST + 2.5}s:leg=2,factor=2",
    ]
    shadow = alarms_of(stewart, measurements(stewart, FIRST + 4.5, faults))
    assert causes(shadow) == [
        ("counts", 4),
        ("backlash", 3),
        ("friction", 2),
    ]
    lost, play, rubbing = shadow.alarms
    assert_within(lost.size, 25, 2)
    hidden = perturbed_machine(stewart, 1).parameters.legs
    grown = 4.0 * hidden[2].drive.reflected().backlash * (play.time - FIRST - 0.2) / 5.0
    assert 0.3 < play.size / grown < 1.2  # the window is not full yet
    assert 0.3 < rubbing.size / hidden[1].drive.reflected().friction < 1.5
    assert play.parts_to_check.startswith("nut")
    assert str(lost).startswith("4.0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "kind", "leg"),
    [("friction@4s:leg=2,factor=3", "friction", 2), ("payload@4s:mass=1", "payload", None)],
)
def test_three_legs_name_their_faults(fault, kind, leg):
    """Encoders and commands of a tip-tilt table show a fault within two seconds."""
    tripod = load("tripod", "hardware")
    shadow = Shadow(tripod, learning=LEARNING)
    for sample in measurements(tripod, FIRST + 2.0, [fault]):
        shadow.update(measured_by(sample, ()))
    assert causes(shadow) == [(kind, leg)]
    assert shadow.restarts == 1


@pytest.mark.slow
def test_three_legs_with_a_load_heavier_than_their_motors_are_followed(tmp_path):
    """The correction moves the platform as the hinges allow."""
    path = tmp_path / "tripod.toml"
    path.write_text(LIGHT_DRIVES)
    machine = load(path)
    shadow = Shadow(machine, learning=LEARNING)
    for sample in measurements(machine, LEARNING + 2.0):
        shadow.update(measured_by(sample, ()))
    assert shadow.alarms == []
    assert (shadow.phase, shadow.restarts) == ("watching", 1)
    for twist in (shadow.model.allowed_motion() @ np.eye(3)).T:
        assert_within(machine.constraints(shadow.model.pose) @ twist, 0.0, 1e-9)


@pytest.mark.slow
def test_a_payload_without_sensors_of_force_and_pose(stewart):
    """Encoders and commands alone show it; samples are lost on the way."""
    random = np.random.default_rng(5)
    found = measurements(stewart, FIRST + 1.5, [f"payload@{FIRST}s:mass=25"], seed=2)
    kept = [
        measured_by(sample, ())
        for sample in found
        if random.uniform() > 0.05 and not 1.2 < sample.time < 1.25
    ]
    shadow = alarms_of(stewart, kept)
    assert causes(shadow) == [("payload", None)]
    assert shadow.alarms[0].size == pytest.approx(25.0, rel=0.3)
    sent = round((kept[-1].time - kept[0].time) * 1000) + 1
    assert shadow.missed == sent - len(kept) > 300
    assert shadow.restarts == 1


@pytest.mark.slow
def test_a_collision_is_an_overload(stewart):
    """All motors are thrown at once: a force from outside, no lost counts."""
    samples = measurements(stewart, FIRST + 1.0, [f"overload@{FIRST}s:force=-15000"])
    kinds = {alarm.kind for alarm in alarms_of(stewart, samples).alarms}
    assert kinds == {"overload"}


@pytest.mark.slow
def test_dead_sensors(stewart):
    """Each alarm names the sensor; a dead encoder brings no other alarm with it."""
    faults = [f"sensor@{FIRST}s:signal=gyroscope", f"sensor@{FIRST + 0.3}s:leg=5"]
    shadow = alarms_of(stewart, measurements(stewart, FIRST + 1.3, faults))
    assert causes(shadow) == [("sensor", None), ("sensor", 5)]
    assert "gyroscope" in shadow.alarms[0].note
    assert "encoder stands still" in shadow.alarms[1].note
    assert shadow.alarms[1].time < FIRST + 0.8


def test_noise_of_encoders_in_the_file_makes_the_observer_calm(stewart):
    """The same noisy readings move the force less where the file tells of their noise."""
    told = stewart.with_(parameters={"leg.encoder.noise": 0.4})
    spread = []
    for known in (stewart, told):
        shadow = Shadow(known, thresholds=INFINITE_THRESHOLDS)
        forces = []
        for sample in work(told, working_motion(stewart, 1.2, 1), seed=1):
            shadow.update(measured_by(sample, ()))
            forces.append(shadow.model.disturbance.copy())
        spread.append(np.std(np.diff(forces[500:], axis=0)))
    assert spread[1] < 0.8 * spread[0]


def test_late_and_stopped(stewart):
    """Old samples are left out and counted; a stopped machine is waited for."""
    samples = list(work(stewart, working_motion(stewart, 0.2, 1)))
    shadow = Shadow(stewart, thresholds=LIMITS)
    for sample in samples[:50]:
        shadow.update(sample)
    assert shadow.phase == "learning"
    shadow.update(samples[10])
    assert shadow.late == 1
    shadow.update(samples[60]._replace(state="stopped"))
    assert shadow.phase == "waiting"
    shadow.update(samples[61])
    assert (shadow.phase, shadow.restarts) == ("learning", 2)
    for sample in samples[62:70]:
        shadow.update(sample._replace(time=sample.time + 50.0))  # after a long silence
    assert shadow.restarts == 3
    shadow.update(samples[70])  # the sender's clock has begun anew
    shadow.update(samples[71])
    assert (shadow.restarts, shadow.late) == (4, 1)


def test_a_machine_at_rest_teaches_nothing(stewart):
    """Learning waits for motion, and the estimates stay finite."""
    motion = working_motion(stewart, 1.0, 1)
    rest = motion._replace(
        coordinates=np.tile(stewart.home_coordinates, (1200, 1)),
        rates=np.zeros((1200, 6)),
        time=np.arange(1200) * 1e-3,
    )
    shadow = Shadow(stewart, thresholds=LIMITS, learning=0.05)
    for sample in work(stewart, rest):
        state = shadow.update(sample)
    assert shadow.phase == "learning"
    assert np.isfinite(state.residuals).all()


def test_what_no_shadow_can_follow():
    """No mass of motors, too few samples, no step of encoders."""
    with refused("inertia"):
        Shadow(load("stewart"), thresholds=LIMITS)
    with refused("rate"):
        Shadow(load("stewart", "hardware"), 50.0, thresholds=LIMITS)
    content = shipped_content("stewart")
    del content["configuration"]["hardware"]["leg"]["encoder"]
    blind = Platform(parameters_from(content, "platform.toml", "hardware"))
    with refused(r"without encoders.*\[leg.encoder\]"):
        Shadow(blind, thresholds=LIMITS)


@pytest.mark.parametrize("name", ["compliant_stewart", "rss"])
def test_errors_of_the_model_die_out(name):
    """Without friction to hide it: fifty counts beside the machine, and the light motor's load."""
    machine = load(name, "hardware")
    free = {"leg.drive.friction_torque": 0.0, "leg.drive.viscous_torque": 0.0}
    model = ShadowModel(machine.with_(parameters=free), 1e-3, "velocity")
    rest = np.zeros(machine.n_actuators)
    model.start(machine.home_coordinates, rest)
    for _ in range(20):
        assert model.advance(rest, None)
    assert max_abs(model.twist) < 1e-3  # springs begin where they carry the platform
    count = drive_model(machine).resolution
    model.coordinates[0] += 50.0 * count[0]
    for _ in range(1000):
        assert model.advance(rest, None)
        missed = machine.home_coordinates - model.coordinates
        model.correct(missed)
    assert max_abs(missed / count) < 1.0


def test_thresholds_come_back_from_their_file(tmp_path):
    """Infinite ones too; other content is refused."""
    from twin.errors import ParameterError

    limits = LIMITS._replace(backlash=np.inf)
    path = write_thresholds(limits, tmp_path / "limits.toml")
    assert read_thresholds(path) == limits
    for text, words in (
        ("friction = -1", "friction: must be a number above zero"),
        ("friction = [1]\njump = true", "jump: must be a number"),
        ("heat = 3", "heat: unknown threshold"),
        ("jump = 1", "force: missing"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ParameterError, match=words):
            read_thresholds(path)
