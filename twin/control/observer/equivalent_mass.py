"""The mass that a leg's observer takes its actuator to move."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import drive_model
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import equivalent_inertia


def lumped_mass(platform: MachineModel, *, drives: bool = True) -> FloatArray:
    """Return `(n,)` [kg] moving mass of each actuator plus its equal share of the platform.

    Args:
        platform: with prismatic actuators that are described by a housing and a rod.
        drives: with what the drives reflect onto the actuators.

    Raises:
        InputError: the legs have no rod.

    Reference:
        Stewart thesis, section 4.4.1: "the sum of the moving mass of the actuator in its
        actuator-axis and one-sixth of the upper platform and test equipment", 27.9 kg; the code of
        appendix A.3 has 18.8 kg without a source. Both leave out the drive's armature.
    """
    legs = as_model(platform).parameters.legs
    rods = [leg.sliding_mass for leg in legs]
    if None in rods:
        raise InputError(
            "platform",
            f"legs of kind {platform.kind!r} have no rod that their actuators push; use "
            "twin.plant.drives.equivalent_inertia",
        )
    share = platform.parameters.platform.body.mass / platform.n_actuators
    masses = np.array(rods, dtype=np.float64) + share
    return masses + drive_model(platform).inertia if drives else masses


def observed_mass(platform: MachineModel) -> FloatArray:
    """Return the lumped masses `(n,)` where there are any, else what moves with all actuators.

    In [kg], for cranks in [kg m2], drives included.

    Raises:
        InputError: not a machine.
    """
    try:
        return lumped_mass(platform)
    except InputError:
        return equivalent_inertia(as_model(platform))
