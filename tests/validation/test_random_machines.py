"""Random valid machines pass the report, with their legs' mass and without."""

import pytest
from case_outcomes import failed
from random_machines import random_machine

from twin.validation.cases import load_case

pytestmark = pytest.mark.quick


SEEDS = range(50)

BRIEF = ("reference", "free_fall", "constant_forces", "constraint_settings")
"""Cases of the quick tier: laws, motions in the engines, and loops."""

MECHANICS = (
    *BRIEF,
    *("projection", "driven_motion", "sinusoidal_forces", "convergence", "compliant_systems"),
)
"""Cases about the machine itself: no controller, no search of a workspace."""

LOOPS = ("closed_loop", "active_damping")
"""Cases whose gains follow from the machine."""


def check(platform, cases):
    """Check that a machine passes every case that applies to it."""
    own = [case for case in map(load_case, cases) if not case.machines]
    assert own
    for case in own:
        if not case.obstacle(platform):
            assert not failed(case.run(platform).measures), case.key


@pytest.mark.gallery
@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines_pass_mechanics_and_loops(seed):
    check(random_machine(seed), (*MECHANICS, *LOOPS))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_machines_on_massless_legs_pass(seed):
    pytest.importorskip("pybullet")
    check(random_machine(seed, massless=True), (*BRIEF, "projection", "driven_motion"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4])
def test_random_machines_pass_the_main_cases(seed):
    pytest.importorskip("pybullet")
    check(random_machine(seed), BRIEF)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "case"),
    [
        (21, "reference"),  # a light platform on stiff springs gains speed fast
        (48, "free_fall"),  # it falls for 1 ms, and hardly any energy moves
        (22, "sinusoidal_forces"),  # forces turn it into a singular pose
        (47, "constant_forces"),  # they line a crank up with its rod
        (47, "driven_motion"),  # hardly any room above home
        (42, "closed_loop"),  # legs four times as long as its cranks
        (31, "active_damping"),  # legs of 2 m, whose loops MuJoCo lets yield by 24 nm
    ],
)
def test_machines_that_need_settings_of_their_own_pass(seed, case):
    pytest.importorskip("pybullet")
    check(random_machine(seed), (case,))


def test_a_seed_is_a_machine():
    assert random_machine(3).hash == random_machine(3).hash
    assert {random_machine(seed).kind for seed in range(5)} == {
        "ups", "strut", "rss", "viscoelastic", "pillar",
    }  # fmt: skip
