"""Homing: from anywhere to the start, exact to a count, or a reason."""

import numpy as np
from homing_rig import STEP, TURN, Rig
from refusals import assert_all_refused, refused
from tolerance import max_abs

import twin
from twin.plant.homing import PHASE_NAMES, Homing, HomingInputs, homing_settings

LOW, HIGH = 0.8644, 1.0944


def test_every_actuator_goes_its_own_way_and_all_wait_for_the_slowest():
    rig = Rig(LOW + np.array([0.0, 0.01, 0.02, 0.03, 0.04, 0.05]), 7, 0.0)
    told = rig.run(Homing(rig.settings()), 30.0)
    assert told.ready
    for leg in range(6):
        orders = [PHASE_NAMES.index(phases[leg]) for phases in rig.seen]
        # The slowest is not seen waiting: the others wait for it.
        assert set(orders) - {3} == {0, 1, 2, 4, 5}
        assert orders == sorted(orders)
    together = [set(phases) for phases in rig.seen]
    assert any({"waiting", "inward"} <= phases for phases in together)
    assert {"approach"} in together
    assert not any("approach" in phases and len(phases) > 1 for phases in together)


def test_the_way_to_the_start_is_smooth_and_within_its_speed():
    rig = Rig(np.full(6, LOW + 1e-3), 1, 0.0)
    homing = Homing(rig.settings())
    speeds = []

    def watch(_, command):
        if homing.phases[0] == "approach":
            speeds.append(command.copy())
        return command

    assert rig.run(homing, 30.0, watch).ready
    way = np.array(speeds)
    assert max_abs(way) <= 1.02 * homing.settings.approach_speed.max()
    assert max_abs(np.diff(way, axis=0)) < 0.02 * max_abs(way)
    assert max_abs(way[0]) < 0.01 * max_abs(way)


def stands(leg, since=0.0):
    """Return a drive fault: one leg stands from some time on."""

    def broken(time, command):
        return np.where((np.arange(6) == leg) & (time >= since), 0.0, command)

    return broken


def test_a_leg_that_stands_is_named():
    rig = Rig(np.full(6, LOW + 0.05), 2, 0.0)
    told = rig.run(Homing(rig.settings()), 30.0, stands(2))
    assert told.fault == "homing: leg 3 does not move: check brake, drive and encoder"
    assert rig.time < 1.5
    assert not told.speeds.any()
    assert told.brakes.all()
    assert set(told.phases) == {"fault"}


def test_a_leg_that_stands_on_its_switch_is_named():
    rig = Rig(np.full(6, LOW - 1e-3), 2, 0.0)
    told = rig.run(Homing(rig.settings()), 30.0, stands(5))
    assert told.fault.startswith("homing: leg 6 does not move")


def test_a_switch_that_is_not_reached_in_time_is_named():
    rig = Rig(np.full(6, LOW + 0.01), 2, 0.0)
    rig.coordinates[1] = HIGH - 0.03
    rig.encoders.power_up(rig.coordinates)
    slow = np.where(np.arange(6) == 1, 0.3, 1.0)
    told = rig.run(Homing(rig.settings()), 60.0, lambda _, command: slow * command)
    assert told.fault.startswith("homing: leg 2 did not reach its lower switch in 25 s")


def test_a_lost_index_pulse_is_named():
    rig = Rig(np.full(6, LOW + 0.002), 2, 0.0)
    homing = Homing(rig.settings())
    time, fault, base = 0.0, "", np.zeros(6)
    # Counts without any pulse: those since power-up, whatever the travel.
    while not fault and time < 30.0:
        pressed = (rig.coordinates <= rig.switch).astype(float)
        base = np.round((rig.coordinates - LOW - 0.002) / STEP)
        told = homing.update(HomingInputs(time, base, pressed))
        rig.coordinates = rig.coordinates + 2e-3 * told.speeds
        fault, time = told.fault, time + 2e-3
    assert "index pulse" in fault


def test_a_start_that_is_not_reached_is_named():
    rig = Rig(np.full(6, LOW + 0.002), 2, 0.0)
    homing = Homing(rig.settings(longest_settling=0.5))

    def broken(_, command):
        drift = 0.01 if homing.phases[0] == "approach" else 0.0
        return command + drift * (np.arange(6) == 3)

    assert "homing: leg 4 stays" in rig.run(homing, 30.0, broken).fault


def test_a_fault_stays():
    rig = Rig(np.full(6, LOW + 0.05), 2, 0.0)
    homing = Homing(rig.settings())
    first = rig.run(homing, 30.0, stands(0)).fault
    rig.time += 2e-3
    assert rig.run(homing, rig.time + 1.0).fault == first


def test_bad_settings_are_refused(stewart):
    numbers = (np.full(6, STEP), np.full(6, float(TURN)), np.full(6, 0.9))
    assert_all_refused(
        lambda options: homing_settings(stewart, *numbers, **options),
        [
            ({"start": np.full(6, 2.0)}, "start"),
            ({"start": np.zeros(5)}, "start"),
            ({"stall": 1.0}, "options"),
            ({"stall_time": -1.0}, "stall_time"),
        ],
    )
    simulator = twin.load("driving_simulator")
    with refused("one by one"):
        homing_settings(simulator, np.full(4, STEP), np.full(4, 4096.0), np.full(4, 0.5))
    homing = Homing(homing_settings(stewart, *numbers))
    homing.update(HomingInputs(0.0, np.zeros(6), np.zeros(6)))
    with refused("time"):
        homing.update(HomingInputs(0.0, np.zeros(6), np.zeros(6)))
    with refused("counts"):
        homing.update(HomingInputs(0.1, np.full(6, np.nan), np.zeros(6)))
