"""Margins of singular poses: smallest singular value of the scaled Jacobian, and conditioning."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.feasibility.course import Course
from twin.analysis.feasibility.margin import Quantity, amount
from twin.basics.arrays import FloatArray
from twin.model.constraints import characteristic_length, null_space
from twin.model.machine_model import MachineModel

SMALLEST_PART = 0.05
"""Least singular value of the Jacobian in parts of that at home: the legs act on the weakest motion
with a twentieth of their effect at home. Adopted."""

LARGEST_CONDITION = 200.0
"""Of the Jacobian: an error of a leg grows two hundred times in the worst direction. Adopted."""


def singularity_quantities(platform: MachineModel, course: Course) -> Iterator[Quantity]:
    """Yield the distance to a singular pose and the conditioning.

    A change of sign of the determinant against home means that a singular pose lies between.
    """
    rows, signs = _singular_values(platform, course.motion.pose)
    home, sign = _singular_values(platform, platform.home[None])
    smallest, condition = rows[:, -1:], rows[:, :1] / np.maximum(rows[:, -1:], 1e-300)
    least = np.full_like(smallest, SMALLEST_PART * home[0, -1])
    turned = signs * sign[0] < 0.0
    share = np.where(turned[:, None], np.inf, least / np.maximum(smallest, 1e-300))

    def remedy(row: int, column: int) -> str:
        place = course.place(row)
        if turned[row]:
            return (
                f"The determinant of the Jacobian has another sign ({place}) than at home: the "
                "machine passes a singular pose on the way, where the legs do not hold it. Stay "
                "closer to home, or place the joints differently."
            )
        return (
            f"The machine is near a singular pose ({place}): the smallest singular value of its "
            f"Jacobian is {amount(float(smallest[row, 0]))}, "
            f"{amount(float(smallest[row, 0] / home[0, -1]))} of that at home. Stay closer to "
            "home, or place the joints differently."
        )

    unit = "" if platform.coordinate_unit == "m" else "rad/m"
    name = "smallest singular value"
    yield Quantity(name, unit, smallest, least, share, [()], remedy, at_least=True)

    def ill(row: int, column: int) -> str:
        return (
            f"The condition number of the Jacobian is {amount(float(condition[row, 0]))} "
            f"({course.place(row)}): errors and forces of the legs grow that much in the worst "
            "direction. Stay closer to home, or place the joints differently."
        )

    most = np.full_like(condition, LARGEST_CONDITION)
    yield Quantity("condition number", "", condition, most, condition / most, [()], ill)


def _singular_values(platform: MachineModel, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return singular values `(k, dof)` of the scaled Jacobian and signs `(k,)` of its determinant.

    Of machines with constraints, over the twists that they can have, and of the rows of Jacobian
    and constraints; zero where these are no square matrix.
    """
    length = characteristic_length(platform.platform_joints)
    units = np.array([1.0, 1.0, 1.0, length, length, length])
    jacobian, constraints = platform.jacobian(poses) / units, platform.constraints(poses) / units
    rows = np.concatenate([jacobian, constraints], axis=1)
    square = rows.shape[1] == 6
    signs = np.linalg.slogdet(rows)[0] if square else np.zeros(len(poses))
    free = jacobian @ null_space(constraints) if constraints.shape[1] else jacobian
    return np.linalg.svd(free, compute_uv=False), np.asarray(signs)
