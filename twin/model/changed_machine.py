"""A machine with other parameters that stays what it was: a `Platform` gives a `Platform`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from twin.errors import InputError
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
        InputError: values that no machine can have; names the first.
    """
    try:
        parameters = MachineParameters.model_validate(content)
        return type(platform)(parameters, limits=platform.limits)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "platform"
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(field, f"no machine can have it: {message}") from None
