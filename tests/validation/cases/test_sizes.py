"""Machines of any size: a hexapod of 6 cm and one without gravity keep the same tolerances."""

import pytest
from case_outcomes import failed

import twin
from twin.analysis.platform import Platform
from twin.machine import MachineParameters
from twin.validation.cases import CASES, load_case
from twin.validation.measures.equilibrium import (
    DURATION_GRID,
    duration_for,
    step_for,
    stiff_scale,
    time_scale,
)

LENGTHS = {"radius", "height", "thickness", "position", "center_of_mass", "minimum", "maximum"}


def resized(factor, gravity):
    """Return `stewart` with all lengths times `factor`, of the same density."""

    def scaled(value, power):
        if isinstance(value, (tuple, list)):
            return [scaled(entry, power) for entry in value]
        return value * factor**power

    def table(content):
        powers = {**dict.fromkeys(LENGTHS, 1), "mass": 3, "inertia": 5}
        return {
            key: table(value)
            if isinstance(value, dict)
            else scaled(value, powers[key])
            if key in powers
            else value
            for key, value in content.items()
        }

    content = table(twin.load("stewart").parameters.model_dump())
    content |= {"name": "resized", "gravity": gravity}
    content["leg"]["appearance"] = content["control"] = None  # gains belong to the masses
    return Platform(MachineParameters.model_validate(content))


MACHINES = {"palm": (0.06, 9.81), "weightless": (1.0, 0.0)}

LEFT_OUT = {
    # Kinematics, free fall and orders of convergence know no weight.
    *(("weightless", key) for key in ("workspace", "free_fall", "convergence")),
    # A motion under other forces than that of `constant_forces`, on the same scales.
    *((machine, "sinusoidal_forces") for machine in MACHINES),
}

PAIRS = [
    (machine, key)
    for machine in MACHINES
    for key in CASES
    if not load_case(key).because and (machine, key) not in LEFT_OUT
]
assert {"reference", "projection", "convergence"} <= {key for _, key in PAIRS}


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "key"), PAIRS)
def test_every_case_passes_on_machines_of_any_size(machine, key):
    pytest.importorskip("pybullet")
    platform, case = resized(*MACHINES[machine]), load_case(key)
    if case.obstacle(platform):
        assert case.condition
        return
    result = case.run(platform)
    assert not failed(result.measures)
    assert result.verdict == "pass"


def test_a_free_fall_needs_gravity():
    assert "no gravity" in load_case("free_fall").obstacle(resized(*MACHINES["weightless"]))


def test_durations_shrink_with_the_machine_on_the_grid():
    assert duration_for(twin.load("stewart"), 0.3) == 0.3
    assert time_scale(resized(1.0, 0.0)) == 1.0
    small = duration_for(resized(0.15, 9.81), 0.3)
    # sqrt(0.15 * 0.979 / 9.81) = 0.122, down to the grid.
    assert small == pytest.approx(6 * DURATION_GRID, rel=1e-12)
    # Legs of a millimetre swing so fast that steps are halved three times, and the grid with them;
    # 0.3 s times sqrt(0.979e-3 / 9.81) / 0.3 is 9.99 ms, down to the grid of 2.5 ms.
    tiny = resized(1e-3, 9.81)
    assert stiff_scale(tiny) == 0.125
    assert duration_for(tiny, 0.3) == pytest.approx(3 * 0.125 * DURATION_GRID, rel=1e-12)


def test_steps_shrink_with_the_machine_by_halves():
    assert step_for(twin.load("stewart"), 1e-3) == 1e-3
    assert step_for(resized(1.0, 0.0), 1e-3) == 1e-3
    # Time scales 0.408 and 0.258: two halvings each.
    assert step_for(resized(0.15, 9.81), 1e-3) == 2.5e-4
    assert step_for(resized(0.06, 9.81), 1e-3) == 2.5e-4
