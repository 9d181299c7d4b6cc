"""Scales of observations: random actions keep nearly all entries inside their bounds."""

import pytest
from refusals import refused

from twin.envs import environment_ids
from twin.envs.channels import saturated_shares
from twin.machine.machine import machine_names

USUAL = (("stewart", None), ("compliant_stewart", None))

MOST = 0.02
"""Share of an observation's entries at a bound. Measured 0.0112 at most; scales that did not know
what actions do had 0.12 (accumulated error) to 0.83 (effort)."""

CASES = [
    (environment, machine, configuration)
    for environment in environment_ids()
    for machine in machine_names()
    for configuration in (None, "hardware")
]

CANNOT = {
    ("twin/PoseTracking-v0", "micro_hexapod", None): "its struts hold it against the motion",
    ("twin/PoseTracking-v0", "micro_hexapod", "hardware"): "its struts hold it against the motion",
    ("twin/VibrationIsolation-v0", "driving_simulator", None): "rigid legs that contradict another",
}
"""Machines that a task accepts, and that cannot do what its actions ask for."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.quick if case[1:] in USUAL else ())
        for case in CASES
        if case not in CANNOT
    ],
    ids=lambda case: "-".join(map(str, case)),
)
def test_few_entries_are_at_their_bounds(case):
    environment, machine, configuration = case
    shares = saturated_shares(
        environment, steps=150, envs=4, machine=machine, configuration=configuration
    )
    assert len(shares) >= 10
    assert max(shares.values()) < MOST, {name: part for name, part in shares.items() if part > MOST}


@pytest.mark.quick
def test_the_check_finds_a_scale_that_is_too_small():
    shares = saturated_shares(
        "twin/PoseTracking-v0", steps=40, envs=2, scales={"rate": 1e-4, "coordinate": 1e9}
    )
    assert shares["rate"] > 0.9 and shares["coordinate"] == 0.0
    with refused("steps"):
        saturated_shares("twin/PoseTracking-v0", steps=0)
