"""Every case on every machine, and that cases notice what they are there to notice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twin
import twin.validation.cases
from twin.errors import InputError, MissingDependencyError
from twin.machine import MachineParameters
from twin.papers.driving_simulator.dae.index_reduction import reduce_index
from twin.papers.driving_simulator.plate import PlateModel
from twin.simulation.platform import Platform
from twin.validation import comparison, projection, simulator_multipliers
from twin.validation.cases import CASES, load_case
from twin.validation.results import CaseResult, Map, Plot
from twin.validation.sampling import random_states

ALIKE = ("srspm", "stewart")
"""Machines of one kind with the one without symmetry, which runs the cases for all machines."""


def altered(platform: Platform, factor: float) -> Platform:
    """Return the machine with another mass of the platform."""
    content = platform.parameters.model_dump()
    content["platform"]["body"]["mass"] *= factor
    return Platform(MachineParameters.model_validate(content))


def failed(result: CaseResult) -> list[str]:
    """Return the names of the measures that fail."""
    return [measure.name for measure in result.measures if measure.verdict == "fail"]


def test_every_module_is_a_case_under_its_name() -> None:
    folder = Path(twin.validation.cases.__path__[0])
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert modules == set(CASES)
    for name in CASES:
        case = load_case(name).CASE
        assert case.key == name
        assert case.title
        assert case.description


@pytest.mark.parametrize("name", ["", "Reference", "case", "os", None, 3])
def test_unknown_case_is_an_input_error(name: Any) -> None:
    with pytest.raises(InputError, match="unknown case"):
        load_case(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_case_passes_and_is_complete(platform: Platform, name: str) -> None:
    module = load_case(name)
    case = module.CASE
    if not case.applies(platform):
        assert platform.name not in case.machines
        return
    if platform.name in ALIKE and not case.machines and not case.kinds:
        return
    result = module.run(platform)
    assert (result.machine, result.case, result.error) == (platform.name, name, "")
    assert failed(result) == []
    assert result.verdict == "pass"
    assert len({measure.name for measure in result.measures}) == len(result.measures)
    for measure in result.measures:
        assert np.isfinite(measure.value), measure.name
        assert measure.tolerance is None or measure.reason, measure.name
    for figure in result.plots:
        if isinstance(figure, Map):
            check_map(figure)
        else:
            check_plot(figure)
    for statement in result.statements:
        assert statement.source
        assert statement.printed
        assert statement.ours


def check_map(figure: Map) -> None:
    """Check that a map can be drawn."""
    assert figure.fields
    for field in figure.fields:
        assert field.values.shape == (len(field.y), len(field.x))
        # Where a machine cannot be there is no value.
        assert np.isfinite(field.values).mean() > 0.1


def check_plot(plot: Plot) -> None:
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


def test_projection_notices_a_mass_off_by_a_millionth(
    stewart: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = altered(stewart, 1.0 + 1e-6)
    honest = projection.projection

    def with_wrong_mass(engine: str, _: Platform, *state: Any) -> Any:
        return honest(engine, wrong, *state)

    monkeypatch.setattr(projection, "projection", with_wrong_mass)
    result = load_case("projection").run(stewart)
    assert len(failed(result)) == len(comparison.BARS)


@pytest.mark.parametrize("engine", [bar.engine for bar in comparison.BARS])
def test_trajectories_notice_an_engine_at_its_defaults(
    srspm: Platform, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = comparison.simulate

    def at_defaults(*arguments: Any, **options: Any) -> Any:
        if options.get("engine") == engine:
            options |= {"engine_defaults": True, "fidelity": "fast"}
        return honest(*arguments, **options)

    monkeypatch.setattr(comparison, "simulate", at_defaults)
    result = load_case("constant_forces").run(srspm)
    label = comparison.LABELS[engine]
    assert failed(result)
    assert all(name.startswith(label) for name in failed(result))


def test_missing_engine_is_told_and_does_not_fail(
    srspm: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = comparison.simulate

    def without_bullet(*arguments: Any, **options: Any) -> Any:
        if options.get("engine") == "bullet":
            raise MissingDependencyError("pybullet", "The engine", "pip install pybullet")
        return honest(*arguments, **options)

    monkeypatch.setattr(comparison, "simulate", without_bullet)
    result = load_case("constant_forces").run(srspm)
    assert result.verdict == "pass"
    note = next(measure for measure in result.measures if measure.name.startswith("Bullet"))
    assert note.verdict == "info"
    assert "pip install pybullet" in note.reason


def test_published_end_of_fall_notices_another_gravity(srspm: Platform) -> None:
    content = srspm.parameters.model_dump() | {"gravity": 9.81}
    result = load_case("free_fall").run(Platform(MachineParameters.model_validate(content)))
    assert any("printed" in name for name in failed(result))
    assert {statement.agreement for statement in result.statements} >= {"differs"}


def test_a_value_that_is_not_a_number_fails(srspm: Platform) -> None:
    result = load_case("projection").run(srspm)
    judged = result.measures[0]
    assert judged.tolerance is not None
    broken = replace(result, measures=(replace(judged, value=float("nan")),))
    assert broken.verdict == "fail"


def test_linear_systems_notice_a_mass_off_by_a_millionth(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = load_case("compliant_systems")
    honest = module.from_parameters

    def heavier(parameters: Any) -> Any:
        machine = honest(parameters)
        return replace(machine, housing_mass=machine.housing_mass * (1.0 + 1e-6))

    monkeypatch.setattr(module, "from_parameters", heavier)
    names = failed(module.run(twin.load("compliant_stewart")))
    assert any(name.startswith("free system") for name in names)
    assert any(name.startswith("energies") for name in names)


def test_exact_model_notices_a_mass_off_by_a_millionth() -> None:
    pytest.importorskip("sympy")
    module: Any = load_case("simulator_actuation")
    machine = twin.load("driving_simulator")
    states = random_states(machine, 20)
    assert not [m for m in module.against_kernels("", machine, states) if m.verdict == "fail"]
    honest = machine.inverse_dynamics
    machine = altered(machine, 1.0)
    machine.inverse_dynamics = lambda *a: (1.0 + 1e-6) * honest(*a)  # type: ignore[method-assign]
    assert [m for m in module.against_kernels("", machine, states) if m.verdict == "fail"]


def test_multipliers_notice_a_misread_term(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sympy")
    plate = PlateModel.from_parameters(twin.load("driving_simulator").parameters)
    reduction = reduce_index(plate.lumped())
    assert simulator_multipliers.wrong_terms(reduction, plate) == []
    first, *others = simulator_multipliers.PRINTED_TERMS
    misread = first._replace(coefficient=(-30, 1))
    monkeypatch.setattr(simulator_multipliers, "PRINTED_TERMS", (misread, *others))
    assert simulator_multipliers.wrong_terms(reduction, plate) == [misread]


def test_fall_of_the_cranked_machine_is_compared_with_the_published_one() -> None:
    result = load_case("rss_free_fall").run(twin.load("rss"))
    (height,) = [m for m in result.measures if m.name.startswith("height")]
    # It rolls a little and so falls a millimetre less than a level platform.
    assert 1e-4 < height.value < 2e-3
    assert {statement.agreement for statement in result.statements} >= {"reproduced", "differs"}
