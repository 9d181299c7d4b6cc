"""Payloads: bodies fixed to the platform, merged into its own by the parallel-axis theorem."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector, positive, read_only
from twin.errors import InputError
from twin.machine.machine import MachineParameters
from twin.model.machine_model import as_model
from twin.simulation.platform import Platform


class Payload:
    """A rigid body fixed to the platform. Cannot be changed.

    Attributes:
        name: for tables and plots.
        mass: [kg].
        center: `(3,)` [m] its centre of mass in the platform frame, read-only.
        inertia: `(3, 3)` [kg m2] tensor about its centre of mass, platform axes, read-only.
    """

    name: str
    mass: float
    center: FloatArray
    inertia: FloatArray

    def __init__(
        self, mass: Any, center: Any = (0.0, 0.0, 0.0), inertia: Any = None, *, name: str = ""
    ) -> None:
        """Describe the payload.

        Args:
            mass: [kg].
            center: centre of mass `(3,)` [m] in the platform frame.
            inertia: about the centre of mass [kg m2]: a tensor `(3, 3)`, three principal moments,
                or None for a point mass.
            name: default its mass.

        Raises:
            InputError: wrong shapes, not finite, a mass not above zero, or a tensor that no body
                has.
        """
        kilograms = positive(mass, "mass")
        if not isinstance(name, str):
            raise InputError("name", f"must be a text, got {name!r}")
        object.__setattr__(self, "name", name or f"{kilograms:g} kg")
        object.__setattr__(self, "mass", kilograms)
        object.__setattr__(self, "center", read_only(as_vector(center, "center", 3)))
        object.__setattr__(self, "inertia", read_only(_tensor(inertia)))

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse changes: sweeps share payloads."""
        raise AttributeError(f"a payload cannot be changed; make a new one with another {name}")

    def __repr__(self) -> str:
        return f"<Payload {self.name!r}: {self.mass:g} kg at {self.center.tolist()} m>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _payload, (self.mass, self.center, self.inertia, self.name)


def with_payload(platform: Platform, payload: Payload | None) -> Platform:
    """Return the machine with a payload merged into its platform's body; None adds nothing.

    Masses add, the common centre is their weighted mean, and the tensors about it follow from the
    parallel-axis theorem.

    Raises:
        InputError: not a machine, not a payload.
    """
    as_model(platform)
    if payload is None:
        return platform
    if not isinstance(payload, Payload):
        raise InputError("payload", f"must be a Payload or None, not {payload!r}")
    body = platform.parameters.platform.body
    mass = body.mass + payload.mass
    center = (body.mass * body.center_of_mass_vector + payload.mass * payload.center) / mass
    inertia = np.zeros((3, 3))
    for part, place, tensor in (
        (body.mass, body.center_of_mass_vector, body.inertia_tensor),
        (payload.mass, payload.center, payload.inertia),
    ):
        offset = place - center
        inertia += tensor + part * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    content = platform.parameters.model_dump()
    content["platform"]["body"] |= {
        "source": f"{body.source}; payload {payload.name} added",
        "mass": mass,
        "center_of_mass": center.tolist(),
        "inertia": inertia.tolist(),
    }
    return Platform(MachineParameters.model_validate(content))


def _tensor(inertia: Any) -> FloatArray:
    if inertia is None:
        return np.zeros((3, 3))
    array = as_floats(inertia, "inertia")
    if array.shape == (3,):
        array = np.diag(array)
    if array.shape != (3, 3):
        raise InputError("inertia", f"must be (3, 3), three moments or None, got {array.shape}")
    size = np.abs(array).max()
    moments = np.linalg.eigvalsh(array)
    symmetric = np.allclose(array, array.T, rtol=0.0, atol=1e-12 * size)
    if not symmetric or moments[0] < 0.0 or moments[:2].sum() < moments[2] * (1.0 - 1e-9):
        raise InputError(
            "inertia",
            "no body has this tensor: it must be symmetric, without negative principal moments, "
            "none of them larger than the sum of the other two",
        )
    return array


def _payload(mass: float, center: FloatArray, inertia: FloatArray, name: str) -> Payload:
    return Payload(mass, center, inertia, name=name)
