"""The workspace of straight legs against shells, on machines outside the catalogue."""

import pytest
from case_outcomes import failed, failed_names
from redundant import machine_on, machine_tool
from shared_joints import ring

from twin.analysis.workspace.region import region
from twin.analysis.workspace.search import Chart
from twin.validation.cases import workspace as closed_forms
from twin.validation.cases.workspace import RAY_LEVELS, shell_measures


def eight_legs():
    """Return a machine in whose many-edged workspace 128 and 512 rays differ by 6 %."""
    base = ring(0.6, [-10, 10, 80, 100, 170, 190, 260, 280])
    top = ring(0.4, [-35, 35, 55, 125, 145, 215, 235, 305])
    return machine_on(base, top, 0.7, (0.55, 1.0))


def level_region(platform, levels):
    return region(Chart.about(platform, ("x", "y", "z")), levels)


@pytest.mark.slow
def test_rays_that_graze_a_shell_pass(monkeypatch):
    """Rounding of a length moves the end of such a ray by much more."""
    machine = machine_tool()
    found = level_region(machine, RAY_LEVELS)
    assert not failed(shell_measures(machine, found))
    # A check without it must fail.
    monkeypatch.setattr(closed_forms, "_obliqueness", lambda *_: 1.0)
    assert failed_names(shell_measures(machine, found)) == ["ends of rays against shells"]


@pytest.mark.quick
def test_rays_and_random_points_agree_within_the_errors_of_both():
    machine = eight_legs()
    found = level_region(machine, RAY_LEVELS[:2])
    assert found.uncertainty > 0.01
    assert not failed(shell_measures(machine, found))
