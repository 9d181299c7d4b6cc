"""Running a mutation: the case that has to notice it, at a reduced length."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

import twin
from mutations.change import Change, Formula, Numbers, Value, applied
from twin.analysis.platform import Platform
from twin.engines.mechanism import make_mechanism
from twin.kernels.integrators import dormand_prince
from twin.kernels.jit import interpreted
from twin.machine import MachineParameters
from twin.validation.case import Measure
from twin.validation.cases import CASES, load_case
from twin.validation.measures.sampling import random_states

Side = Literal["reference", "mujoco", "bullet", "both"]

MODEL_MAKERS = {
    "mujoco": ("twin.engines.mjcf", "twin.engines.mujoco", "twin.engines.mujoco"),
    "bullet": ("twin.engines.urdf", "twin.engines.bullet.engine"),
}
"""Modules in which an engine makes its model of a machine."""

SHORTER: dict[str, dict[str, Any]] = {
    "reference": {"STATE_COUNT": 4, "FREE_MOTION": 0.1},
    "projection": {"STATE_COUNT": 4, "PROJECTED_STATE_COUNT": 4},
    "constant_forces": {"CONSTANT_FORCE_DURATION": 0.1},
    "inertial_sensor": {"PLATFORM_RUNS": False},
}
"""Constants of cases that make them short."""


RIGID_BODY_LAWS = tuple(
    f"twin.kernels.{package}." for package in ("dynamics", "integrators", "kinematics", "legs")
)
"""Kernels that are chosen by the kind of legs: numba keeps their machine code."""


class Mutation(NamedTuple):
    """A wrong model, and the measure that has to notice it."""

    machine: str
    side: Side
    """where the model is wrong; `both`: reference and engines alike"""
    text: str
    """what is wrong"""
    change: Change | None
    case: str
    measure: str
    """beginning of the measure's name"""


class Outcome(NamedTuple):
    """What a case makes of a mutation."""

    mutation: Mutation
    measure: Measure
    """the one that has to fail"""
    failed: tuple[str, ...]
    """names of all measures that fail"""
    judged: tuple[str, ...]
    """names of all measures with a tolerance"""

    @property
    def caught(self) -> bool:
        """Whether the measure whose purpose it is fails."""
        return self.measure.verdict == "fail"


def outcome(mutation: Mutation) -> Outcome:
    """Return what the case makes of a mutation.

    Raises:
        AssertionError: the case has no such measure.
    """
    with shorter(mutation.case), wrong(mutation) as platform:
        measures = load_case(mutation.case).run(platform).measures
    found = [one for one in measures if one.name.startswith(mutation.measure)]
    assert found, f"{mutation}: {[one.name for one in measures]}"
    failed = tuple(one.name for one in measures if one.verdict == "fail")
    judged = tuple(one.name for one in measures)
    return Outcome(mutation, found[0], failed, judged)


@contextmanager
def shorter(case: str) -> Iterator[None]:
    """Make a case short."""
    module = import_module(f"twin.validation.cases.{CASES[case]}")
    with ExitStack() as stack:
        for name, value in SHORTER.get(case, {}).items():
            stack.enter_context(patch.object(module, name, value))
        yield


@contextmanager
def wrong(mutation: Mutation) -> Iterator[Platform]:
    """Provide the machine with the mutation in place."""
    right = twin.load(mutation.machine)
    change = mutation.change
    if isinstance(change, Numbers):
        content = right.parameters.model_dump()
        change.change(content)
        with _numbers(
            mutation.side, right, Platform(MachineParameters.model_validate(content))
        ) as it:
            yield it
    elif change is not None and _is_rigid_body_law(change):
        with _interpreted(mutation, right), applied(change, compiling=False):
            yield right
    elif change is not None:
        with applied(change):
            yield Platform(MachineParameters.model_validate(right.parameters.model_dump()))


@contextmanager
def _numbers(side: Side, right: Platform, changed: Platform) -> Iterator[Platform]:
    if side == "both":
        yield changed
    elif side == "reference":
        right.constants = changed.constants
        yield right
    else:

        def make(_: Any, *arguments: Any, **options: Any) -> Any:
            return make_mechanism(changed.parameters, *arguments, **options)

        with ExitStack() as stack:
            for module in MODEL_MAKERS[side]:
                stack.enter_context(patch(f"{module}.make_mechanism", make))
            yield right


def _is_rigid_body_law(change: Formula | Value) -> bool:
    path = change.function if isinstance(change, Formula) else change.constant
    return path.startswith(RIGID_BODY_LAWS)


@contextmanager
def _interpreted(mutation: Mutation, platform: Platform) -> Iterator[None]:
    """Run kernels as Python does: compiling a wrong one takes longer than all its uses."""
    module = import_module(f"twin.validation.cases.{CASES[mutation.case]}")
    with ExitStack() as stack:
        if hasattr(module, "random_states"):
            states = random_states(platform, module.STATE_COUNT)
            stack.enter_context(patch.object(module, "random_states", lambda *_: states))

        def run(kernel: Any, constants: Any, arrays: Any) -> int:
            return int(interpreted(kernel)(*constants, *arrays))

        stack.enter_context(patch("twin.model.machine_base.run_batch", run))

        def integrate(*arguments: Any) -> tuple[int, int]:
            return interpreted(dormand_prince)(*arguments)  # type: ignore[no-any-return]

        stack.enter_context(patch("twin.model.integrate.dormand_prince", integrate))
        interpreted.cache_clear()
        stack.callback(interpreted.cache_clear)
        yield
