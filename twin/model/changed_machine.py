"""A machine with other parameters that stays what it was: a `Platform` gives a `Platform`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from twin.machine.machine import MachineParameters
from twin.model.machine_model import MachineModel

Model = TypeVar("Model", bound=MachineModel)
"""A machine of the class that a function was given."""


def changed(platform: Model, content: Mapping[str, Any]) -> Model:
    """Return a machine of the same class with other parameters.

    Args:
        platform: the machine.
        content: all its parameters, as `model_dump` gives them, with changes.

    Raises:
        ValueError: values that no machine can have.
    """
    return type(platform)(MachineParameters.model_validate(content))
