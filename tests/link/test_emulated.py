"""The emulated machine: it is the simulated one, and each fault changes what it should."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within, max_abs

import twin
from twin.link.emulated import EmulatedMachine, parse_fault
from twin.link.protocol import Encoder, Sample
from twin.simulation.batched.analytic import AnalyticBatchedPlant

pytestmark = pytest.mark.quick

N = 6


def speeds(step):
    """Return speeds [m/s] of six legs in a period, which begin at rest."""
    return 0.02 * np.sin(0.02 * step * (1.0 + 0.1 * np.arange(N)))


def command(sequence, **values):
    """Return a command with one number, or `(n,)`, for each field."""
    given = {name: np.broadcast_to(np.asarray(value, float), N) for name, value in values.items()}
    return Sample("command", 1e-3 * sequence, given, sequence)


def run(machine, count, **values):
    """Return the last of `count` measurements under the same command."""
    for step in range(count):
        machine.step(command(step, **values))
    return machine.measurement


def test_it_moves_as_the_batched_plant_does(hardware):
    machine = EmulatedMachine(hardware, seed=3)
    sent = [machine.step(command(k, command_rates=speeds(k))) for k in range(100)]
    batch = AnalyticBatchedPlant(hardware, 1, period=1e-3, timestep=5e-4)
    batch.reset([0])
    for step in range(100):
        batch.advance(speeds(step)[None])
    assert_within(machine.state.pose, batch.pose[0], 1e-15)
    assert_array_equal(sent[-1].values["coordinates"], batch.measured[0])
    assert_allclose(sent[-1].values["forces"], batch.effort[0], rtol=1e-12)
    assert max_abs(batch.pose[0] - hardware.home) > 1e-4
    assert sent[-1].acknowledged == 99
    assert {"coordinates", "rates", "forces", "gyroscope"} < sent[-1].values.keys()
    assert_array_equal(sent[50].values["command_rates"], speeds(50))
    again = machine.reset()
    assert again.time == 0.0
    for k, before in enumerate(sent):
        now = machine.step(command(k, command_rates=speeds(k)))
        for name, value in before.values.items():
            assert_array_equal(now.values[name], value)


def test_setpoints_are_reached_and_held_without_commands(hardware):
    machine = EmulatedMachine(hardware, watchdog=0.05)
    goal = machine.measurement.values["coordinates"] + 2e-3
    assert run(machine, 1000, setpoint=goal).state == "running"
    states = [machine.step().state for _ in range(200)]
    assert states[:50] == ["running"] * 50
    assert states[51:] == ["holding"] * 149
    assert_within(machine.measurement.values["coordinates"], goal, 1e-3)
    moving = run(machine, 100, command_rates=0.05)
    for _ in range(1000):
        held = machine.step()
    assert held.state == "holding"
    assert max_abs(held.values["rates"]) < 2e-3
    assert_within(held.values["coordinates"], moving.values["coordinates"], 8e-3)


def test_forces_of_the_inverse_dynamics_hold_it(stewart):
    machine = EmulatedMachine(stewart)
    held = stewart.inverse_dynamics(stewart.home, np.zeros(6), np.zeros(6))
    sample = run(machine, 200, command_forces=held)
    assert_within(machine.state.pose, stewart.home, 1e-9)
    assert_allclose(sample.values["forces"], held, rtol=1e-9)
    for _ in range(300):
        machine.step()
    assert_within(machine.state.pose, stewart.home, 1e-6)


def settled(machine, seconds=1.2):
    """Return the forces of a machine that holds its position."""
    for _ in range(round(seconds / machine.period)):
        machine.step()
    return machine.measurement.values["forces"]


def test_a_payload_and_an_overload_weigh_what_they_should(stewart):
    rest = np.zeros(6)
    loaded = settled(EmulatedMachine(stewart, faults=[parse_fault("payload@50 ms:mass=40 kg")]))
    heavier = stewart.with_(payload=40.0)
    expected = heavier.inverse_dynamics(stewart.home, rest, rest)
    assert_allclose(loaded, expected, rtol=1e-3)
    pushed = EmulatedMachine(
        stewart, faults=[parse_fault("overload@0.1:force=300 N,axis=x,for=2s")]
    )
    wrench = np.array([300.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    expected = stewart.inverse_dynamics(stewart.home, rest, rest, wrench)
    assert_within(settled(pushed), expected, 0.5)


def test_more_friction_takes_more_force(hardware):
    drive = hardware.parameters.leg.drive
    seen, rate = drive.reflected(), 0.02
    plain, fault = (
        EmulatedMachine(hardware, faults=faults)
        for faults in ([], [parse_fault("friction@100 ms:leg=2,factor=3")])
    )
    change = [run(each, 700, command_rates=rate).values["forces"] for each in (fault, plain)]
    expected = np.zeros(N)
    expected[1] = 2.0 * (seen.friction + rate * seen.viscous)
    assert_within(change[0] - change[1], expected, 0.03 * expected[1])


def test_lost_counts_move_the_machine_and_a_dead_encoder_does_not_see_it(hardware):
    count = 5.08e-3 / 4096
    lost = EmulatedMachine(hardware, faults=[parse_fault("counts@0.1:leg=3,counts=400")])
    home = lost.measurement.values["coordinates"]
    for _ in range(101):
        lost.step()
    assert lost.measurement.values["rates"][2] == pytest.approx(-400 * count / 1e-3, rel=0.02)
    settled(lost, 2.0)
    assert_within(lost.measurement.values["coordinates"], home, 2e-4)
    assert_within(lost.state.lengths[2] - home[2], 400 * count, 2e-4)
    dead = EmulatedMachine(hardware, faults=[parse_fault("sensor@0.1:leg=3")])
    sample = run(dead, 400, command_rates=0.02)
    moved = sample.values["coordinates"] - home
    assert sample.values["rates"][2] == 0.0
    assert moved[2] < 0.3 * moved[0]
    assert_within(dead.state.lengths[2] - home[2], moved[0], 1e-4)


def test_noise_has_its_deviation_and_the_poses_of_a_tracker_are_sent():
    noise = {"forces": 3.0, "pose": 2e-5, "attitude": 5e-5}
    machine = EmulatedMachine(twin.load("stewart"), noise=noise, seed=1)
    samples = [machine.step() for _ in range(400)]
    forces = np.array([sample.values["forces"] for sample in samples])
    poses = np.array([sample.values["pose"] for sample in samples])
    assert forces.std(axis=0) == pytest.approx(3.0, rel=0.15)
    assert poses[:, :3].std(axis=0) == pytest.approx(2e-5, rel=0.15)
    assert 2.0 * poses[:, 4:].std(axis=0) == pytest.approx(5e-5, rel=0.15)


def test_wrong_faults_name_their_option():
    assert_all_refused(
        parse_fault,
        [
            ("rust", "fault"),
            ("friction@1s:leg=0", "leg"),
            ("friction:colour=1", "colour"),
            ("payload@2 s", "mass"),
            ("payload:mass=3 m", "mass"),
            ("counts@-1", "begin"),
            ("sensor:signal=pain", "signal"),
        ],
    )


def test_faults_that_a_machine_cannot_have_are_refused(stewart, hardware):
    for machine, text in ((stewart, "friction"), (stewart, "counts"), (hardware, "sensor:leg=7")):
        with refused("fault"):
            EmulatedMachine(machine, faults=[parse_fault(text)])
    with refused(r"noise\.smell"):
        EmulatedMachine(stewart, noise={"smell": 1.0})


@pytest.mark.parametrize("fields", [("setpoint",), ("command_rates",), ("command_forces",)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("stewart", {"limits": False}),
        ("stewart", {"configuration": "hardware"}),
        ("sg90_servo", {}),
    ],
)
def test_no_command_stops_the_measurements(name, options, fields):
    machine = EmulatedMachine(twin.load(name, **options))
    encoder = Encoder(N)
    for apart in (np.ones(N), np.array([1.0, -1.0, 0.0, 1.0, -1.0, -1.0])):
        machine.reset()
        for step in range(30):
            sample = machine.step(command(step, **dict.fromkeys(fields, 1e149 * apart)))
            encoder.encode(sample)
        assert (sample.state == "stopped") == bool(machine.stopped)
    assert not machine.stopped or options.get("configuration") != "hardware"
    assert machine.stopped or "limits" not in options


def test_a_measurement_holds_no_command_that_is_over():
    machine = EmulatedMachine(twin.load("sg90_servo", configuration="hardware"))
    home = machine.measurement.values["setpoint"]
    assert "command_rates" in run(machine, 2, command_rates=0.1).values
    assert "command_rates" not in run(machine, 2, setpoint=home).values


def test_it_runs_in_another_engine():
    first, second = (
        EmulatedMachine(twin.load("stewart"), engine=name) for name in ("analytic", "mujoco")
    )
    for step in range(100):
        for machine in (first, second):
            machine.step(command(step, command_rates=speeds(step)))
    assert_within(first.state.pose, second.state.pose, 2e-5)
    assert max_abs(first.state.pose - first.platform.home) > 1e-4
    second.close()
