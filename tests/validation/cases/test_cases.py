"""Cases on machines of every kind, and that they notice what they are there to notice."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from case_outcomes import failed, failed_names
from refusals import assert_all_refused
from unsymmetric import content_without_symmetry

import twin
import twin.validation.cases
from twin.analysis.platform import Platform
from twin.errors import MissingDependencyError
from twin.machine import MachineParameters
from twin.machine.file.read import parameters_from
from twin.papers.driving_simulator.dae.index_reduction import reduce_index
from twin.papers.driving_simulator.kinematics import PlateModel
from twin.papers.stewart_thesis import explanations
from twin.validation.cases import CASES, compliant_legs, load_case
from twin.validation.cases.driving_simulator import dae as simulator_multipliers
from twin.validation.cases.driving_simulator.kinematics import against_kernels
from twin.validation.measures import comparison
from twin.validation.measures.sampling import random_states

LEFT_TO_THE_REPORT = (
    "compliant_response",
    "compliant_systems",
    "formulations",
    "identification",
    "inertial_sensor",
    "micro_hexapod",
    "motion_cueing",
    "payload",
    "policies",
    "simulator_engines",
    "simulator_forced",
    "tank_motion",
    "thesis_motion",
    "tracking",
    "tuning",
)
"""Cases of one machine that take a second and more each: `make report` runs them, and fails with
them."""

SOME_MACHINES = {
    "plant": ("stewart", "compliant_stewart", "driving_simulator", "rss"),
    "constant_forces": ("compliant_stewart", "rss", "driving_simulator"),
    "constraint_settings": ("micro_hexapod", "driving_simulator"),
    "closed_loop": ("driving_simulator",),
    "active_damping": ("micro_hexapod",),
}
"""What depends on the kind of legs, beside what test_own_machines.py tries on unequal legs."""

PAIRS = [
    *(((*load_case(name).machines, "general")[0], name) for name in CASES),
    *((machine, name) for name, machines in SOME_MACHINES.items() for machine in machines),
]
PAIRS = [
    (machine, name)
    for machine, name in PAIRS
    if name not in LEFT_TO_THE_REPORT
    and (machine, name) not in (("general", "plant"), ("general", "active_damping"))
]
"""Machines and cases that can fail differently; the report has all pairs."""


def machine_called(name):
    """Return a machine of the catalogue, or the one without any symmetry."""
    if name == "general":
        content = content_without_symmetry("ups") | {"name": name}
        return Platform(parameters_from(content, "platform.toml"))
    return twin.load(name)


def altered(platform, factor):
    """Return the machine with another mass of the platform."""
    content = platform.parameters.model_dump()
    content["platform"]["body"]["mass"] *= factor
    return Platform(MachineParameters.model_validate(content))


def test_every_case_is_in_the_list_under_its_name():
    folder = Path(twin.validation.cases.__path__[0])
    cases = {
        (name, ".".join(path.relative_to(folder).with_suffix("").parts))
        for path in folder.rglob("*.py")
        for name in re.findall(
            r"^@validation_case\(.*?^def check_(\w+)\(",
            path.read_text(encoding="utf-8"),
            re.DOTALL | re.MULTILINE,
        )
    }
    assert cases == set(CASES.items())
    for name in CASES:
        case = load_case(name)
        assert case.key == name
        assert case.title
        assert case.description
        assert "\n" not in case.title + case.description


def test_unknown_case_is_an_input_error():
    assert_all_refused(load_case, [(name, "unknown case") for name in ("", "Reference", None, 3)])


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "name"), PAIRS)
def test_case_passes_and_is_complete(machine, name, outcome):
    platform = machine_called(machine)
    result = outcome(platform, name)
    assert (result.machine, result.case, result.error) == (platform.name, name, "")
    assert failed(result.measures) == []
    assert result.verdict == "pass"
    names = [entry.name for entry in (*result.measures, *result.quantities)]
    assert len(set(names)) == len(names)
    for measure in result.measures:
        assert np.isfinite(measure.value), measure.name
        assert measure.reason, measure.name
    for plot in result.plots:
        check_plot(plot)
    for statement in result.statements:
        assert statement.source
        assert statement.printed
        assert statement.ours


def check_plot(plot):
    """Check that a plot can be drawn."""
    assert plot.panels
    for panel in plot.panels:
        assert panel.curves
        names = [curve.name for curve in panel.curves]
        assert len(set(names)) == len(names)
        for curve in panel.curves:
            assert curve.x.shape == curve.y.shape == (len(curve.x),)
            assert 1 < len(curve.x) <= 2501
            assert np.isfinite(curve.x).all()
            assert np.isfinite(curve.y).all()
            assert not panel.log_y or (curve.y > 0.0).all()


def test_missing_engine_is_told_and_does_not_fail(srspm, monkeypatch):
    honest = comparison.simulate

    def without_bullet(*arguments, **options):
        if options.get("engine") == "bullet":
            raise MissingDependencyError("pybullet", "The engine", "pip install pybullet")
        return honest(*arguments, **options)

    monkeypatch.setattr(comparison, "simulate", without_bullet)
    result = load_case("constant_forces").run(srspm)
    assert result.verdict == "pass"
    (note,) = (one for one in result.quantities if one.name.startswith("Bullet"))
    assert "pip install pybullet" in note.note


def test_linear_systems_notice_a_mass_off_by_a_millionth(monkeypatch):
    honest = compliant_legs.from_parameters

    def heavier(parameters):
        machine = honest(parameters)
        return replace(machine, housing_mass=machine.housing_mass * (1.0 + 1e-6))

    monkeypatch.setattr(compliant_legs, "from_parameters", heavier)
    names = failed_names(
        load_case("compliant_systems").run(twin.load("compliant_stewart")).measures
    )
    assert any(name.startswith("free system") for name in names)
    assert any(name.startswith("energies") for name in names)


def test_exact_model_notices_a_mass_off_by_a_millionth():
    machine = twin.load("driving_simulator")
    states = random_states(machine, 20)
    assert not [m for m in against_kernels("", machine, states) if m.verdict == "fail"]
    honest = machine.inverse_dynamics
    machine = altered(machine, 1.0)
    machine.inverse_dynamics = lambda *a: (1.0 + 1e-6) * honest(*a)
    assert [m for m in against_kernels("", machine, states) if m.verdict == "fail"]


@pytest.mark.slow
def test_each_bandwidth_of_a_fitted_loop_stands_with_its_own_lag(stewart, outcome):
    found = explanations(stewart, twin.load("stewart", "hardware"))
    statements = outcome(stewart, "frequency_response").statements
    (bandwidth,) = [each for each in statements if each.printed.startswith("A bandwidth")]
    text = bandwidth.ours + bandwidth.why
    for name in ("lag", "lag, difference", "lag, viscous"):
        assert f"{1e3 * found[name].loop.current_lag:.2f} ms" in text
        assert f"{found[name].points.bandwidth:.0f} Hz" in text


@pytest.mark.slow
def test_multipliers_notice_a_misread_term(constants):
    pytest.importorskip("sympy")
    plate = PlateModel.from_parameters(twin.load("driving_simulator").parameters)
    reduction = reduce_index(plate.lumped())
    assert simulator_multipliers.wrong_terms(reduction, plate) == []
    first, *others = simulator_multipliers.PRINTED_TERMS
    misread = first._replace(coefficient=(-30, 1))
    constants(simulator_multipliers, PRINTED_TERMS=(misread, *others))
    assert simulator_multipliers.wrong_terms(reduction, plate) == [misread]


@pytest.mark.slow
def test_fall_of_the_cranked_machine_is_compared_with_the_published_one(outcome):
    result = outcome(twin.load("rss"), "rss_free_fall")
    (height,) = [m for m in result.measures if m.name.startswith("height")]
    # It rolls a little and so falls a millimetre less than a level platform.
    assert 1e-4 < height.value < 2e-3
    assert {statement.agreement for statement in result.statements} >= {"reproduced", "differs"}
