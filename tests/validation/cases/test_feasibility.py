"""The case of feasibility: a machine that cannot hold itself fails it."""

import pytest
from case_outcomes import failed_names

import twin
from twin.analysis.platform import Platform
from twin.machine import MachineParameters
from twin.validation.cases import load_case

pytestmark = pytest.mark.quick


@pytest.mark.slow
def test_a_weak_machine_fails(platform):
    result = load_case("feasibility").run(platform)
    assert result.verdict == "pass"
    assert len(result.measures) >= 6
    content = twin.load("stewart").parameters.model_dump()
    content["leg"]["actuator"]["force"] = 400.0
    weak = Platform(MachineParameters.model_validate(content))
    failed = failed_names(load_case("feasibility").run(weak).measures)
    # 308 N at home, 454 N half way to an end of a range.
    assert failed == ["at rest at 50 % of its ranges: force, share of its limit"]
