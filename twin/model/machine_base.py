"""Parameters, geometry and constants of one machine: what its numeric model computes with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError

from twin.basics.arrays import read_only
from twin.errors import InputError
from twin.machine.file.read import parameters_hash
from twin.machine.legs.leg import Leg
from twin.machine.machine import MachineParameters
from twin.model.constants import pack, repacked, same_geometry
from twin.model.motions import LegSprings, leg_springs

SHARED = (
    *("name", "kind", "base_joints", "platform_joints", "first_axes", "n_actuators", "dof"),
    *("home", "home_coordinates", "home_reaches", "minimum_coordinates", "maximum_coordinates"),
    *("n_deflections", "coordinate_unit", "force_unit"),
)
"""Attributes that machines of the same geometry share."""


class MachineBase:
    """A machine without its kinematics and dynamics; see `MachineModel`."""

    def __init__(
        self,
        parameters: MachineParameters,
        *,
        limits: bool = True,
        like: MachineBase | None = None,
    ) -> None:
        """Prepare the machine that `parameters` describe.

        Args:
            parameters: checked ones.
            limits: whether the actuators' limits of force and speed hold in simulations.
            like: a machine whose geometry is taken over where the parameters share its tables; the
                result is the same without it, later.

        Raises:
            InputError: not checked parameters.
        """
        if not isinstance(parameters, MachineParameters):
            raise InputError("parameters", "must be MachineParameters; use twin.load(name or path)")
        self.parameters, self.limits = parameters, limits
        if like is not None and same_geometry(like.parameters, parameters):
            self._share(like)
            return
        self.name = parameters.name
        self.kind: str = parameters.leg.kind
        self.leg: Leg = parameters.leg
        self.constants = pack(parameters)
        self.base_joints = read_only(parameters.base.joints.points)
        self.platform_joints = read_only(parameters.platform.joints.points)
        self.first_axes = parameters.first_axes
        self.home = read_only([*parameters.home.position, *parameters.home.orientation])
        self.home_coordinates = parameters.home_coordinates
        self.home_reaches = read_only(np.linalg.norm(parameters.home_leg_vectors, axis=1))
        self.n_actuators = len(self.base_joints)
        self.dof = parameters.leg.dof
        self.n_deflections = self.n_actuators if self.leg.has_series_spring else 0
        actuators = [leg.actuator for leg in parameters.legs]
        self.coordinate_unit = actuators[0].coordinate_unit
        self.force_unit = actuators[0].effort_unit
        self.minimum_coordinates = read_only([actuator.minimum for actuator in actuators])
        self.maximum_coordinates = read_only([actuator.maximum for actuator in actuators])

    def _share(self, other: MachineBase) -> None:
        """Take over all that follows from the geometry of another machine."""
        for name in SHARED:
            setattr(self, name, getattr(other, name))
        self.leg = self.parameters.leg
        self.constants = repacked(other.constants, other.parameters, self.parameters)

    @cached_property
    def hash(self) -> str:
        """Hexadecimal digest of all parameter values."""
        return parameters_hash(self.parameters)

    @cached_property
    def leg_springs(self) -> LegSprings:
        """Springs along the legs, in series with the actuators or beside them."""
        return leg_springs(self.parameters)

    def __repr__(self) -> str:
        size = f"{self.n_actuators} actuators, {self.dof} dof"
        return f"<{type(self).__name__} {self.name!r}: {size}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), limits=self.limits), (self.parameters,)


Model = TypeVar("Model", bound=MachineBase)


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
