"""Kinematics of a machine as a C99 file and its header, for the controller of the machine.

The source is the same for all machines of a kind of legs; constants are in a table. Its equations
are those of `twin.kernels.legs` and `twin.kernels.kinematics`.
"""

from __future__ import annotations

import re
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from twin import __version__
from twin.basics.arrays import FloatArray, one_of
from twin.basics.files import new_folder, write_text
from twin.errors import InputError
from twin.kernels.legs import rss, upu
from twin.kernels.legs.interface import AXIS, BASE_JOINT, PLATFORM_JOINT
from twin.kernels.legs.upu import UpuLegs
from twin.model.machine_model import MachineModel, as_model

SOURCE_FOLDER = Path(__file__).parent

PRECISIONS = ("double", "float")

RESIDUAL_TOLERANCES = {"double": (2e-15, 2e-13), "float": (2.5e-7, 4e-6)}
"""Residuals per largest coordinate: below the first a search has converged, and below the second it
is accepted where rounding errors stop it."""

TINY_ANGLES = {"double": 1e-12, "float": 1e-6}
"""[rad] Rotation of a step below which the sine of its half is the half itself."""

C_FUNCTIONS = ("sqrt", "sin", "cos", "fabs", "atan2", "floor")

PLANE_TOLERANCES = {"double": 1e-9, "float": 1e-6}
"""[m] Distance of a leg's tip from its plane that counts as rounding."""

HINGE_FIELD = """\
    @name@_real axis[3]; /* of the hinge, in the base frame, across the plane of the tip */"""

PLANE_ROWS = """
        coordinates[N + i] = dot(vector, legs[i].axis);
        cross(arm, legs[i].axis, &jacobian[N + i][3]);
        for (k = 0; k < 3; k++)
            jacobian[N + i][k] = legs[i].axis[k];"""

PLANE_DECLARATION = """\
/* Moves a pose along x and y and turns it about its normal until all tips are in the planes of
 * their legs; its height and normal stay. Returns 0, or the leg whose tip stays farthest off. */
int @name@_onto_planes(const @name@_leg legs[@NAME@_LEGS], @name@_pose *pose);

"""

CRANK_FIELDS = """\
    @name@_real axis[3];           /* of the crank, in the base frame */
    @name@_real zero_direction[3]; /* of the crank at angle zero, in the base frame */
    @name@_real crank_length;
    @name@_real rod_length;
    @name@_real branch;       /* of the two crank angles, 1: the larger, -1: the smaller */
    @name@_real middle_angle; /* middle of the crank's range [rad] */"""

SCREW_FIELDS = """\
    @name@_real base_axis[3];     /* of the lower universal joint, in the base frame */
    @name@_real platform_axis[3]; /* of the upper one, in the platform's frame */
    @name@_real screw;            /* change of the coordinate per twist of the rod [m/rad] */
    @name@_real home_twist;       /* of the rod against the housing [rad] */"""

SCREW_CALL = "\n        add_screw(&legs[i], matrix, arm, &coordinates[i], jacobian[i]);"


def write_source(
    platform: MachineModel, folder: str | Path, *, precision: str = "double"
) -> list[Path]:
    """Write NAME_kinematics.c and NAME_kinematics.h for a machine; returns their paths.

    Args:
        platform: the machine.
        folder: where the files go; it is made if missing.
        precision: "double" or "float", the type of all numbers.

    Raises:
        InputError: a machine on pillars, an unknown precision, or a folder that cannot be written
            to.
    """
    as_model(platform)
    one_of(precision, "precision", PRECISIONS)
    if platform.leg.has_foot:
        raise InputError(
            "platform",
            f"{platform.name} stands on pillars; C source is for legs with a joint at both ends",
        )
    texts = {
        f"{platform.name}_kinematics.{ending}": _filled(f"kinematics.{ending}", platform, precision)
        for ending in ("c", "h")
    }
    with new_folder(folder, "folder") as source_folder:
        return [write_text(source_folder / file, text) for file, text in texts.items()]


def _filled(file: str, platform: MachineModel, precision: str) -> str:
    """Return the text of a file with names, constants and functions in its placeholders."""
    has_cranks, in_planes = platform.leg.has_crank, platform.dof < 6
    has_screws = isinstance(platform.constants.legs, UpuLegs)
    leg_files = ["crank_leg.c" if has_cranks else "straight_leg.c"]
    leg_files += ["screw_leg.c"] if has_screws else []
    leg_functions = [(SOURCE_FOLDER / name).read_text(encoding="utf-8") for name in leg_files]
    more_fields = HINGE_FIELD if in_planes else SCREW_FIELDS if has_screws else ""
    planes = (SOURCE_FOLDER / "planes.c").read_text(encoding="utf-8")
    is_float = precision == "float"
    converged, accepted = RESIDUAL_TOLERANCES[precision]
    numbers = {  # filled in as literals of the precision
        "converged": converged,
        "accepted": accepted,
        "tiny": TINY_ANGLES[precision],
        "half": 0.5,
        "pi": pi,
        "plane": PLANE_TOLERANCES[precision],
        # Residuals are compared with the largest coordinate, of cranks at least with this [rad].
        "smallest_scale": rss.SMALLEST_SCALE if has_cranks else 0.0,
    }
    placeholders = {
        "leg_function": "".join(leg_functions).strip(),
        "leg_fields": CRANK_FIELDS if has_cranks else more_fields,
        "more_rows": PLANE_ROWS if in_planes else SCREW_CALL if has_screws else "",
        "plane_function": "\n\n" + planes.strip() if in_planes else "",
        "plane_declaration": PLANE_DECLARATION if in_planes else "",
        "off": ",\n * or minus the first leg whose tip is off its plane" if in_planes else "",
        "rows": "(2 * N)" if in_planes else "N",
        "name": platform.name,
        "NAME": platform.name.upper(),
        "title": comment(platform.parameters.title),
        "version": __version__,
        "hash": platform.hash,
        "real": precision,
        "count": str(platform.n_actuators),
        "coordinate": platform.parameters.leg.coordinate,
        "more_functions": ", atan2 and floor" if has_cranks or has_screws else "",
        "legs": _table(platform, is_float),
        "home": ", ".join(_row(part, is_float) for part in (platform.home[:3], platform.home[3:])),
        **{key: number(value, is_float) for key, value in numbers.items()},
        **{function: f"{function}f" if is_float else function for function in C_FUNCTIONS},
    }
    text = (SOURCE_FOLDER / file).read_text(encoding="utf-8")
    for name, value in placeholders.items():
        text = text.replace(f"@{name}@", value)
    return re.sub(r"\n\n+(?=    \w+ minimum)", "\n", text)


def comment(text: str) -> str:
    """Return a text that may stand in a comment of C, and holds no placeholder."""
    return re.sub(r"(?<=[*/])(?=[*/])", " ", " ".join(text.split())).replace("@", "(at)")


def _table(platform: MachineModel, is_float: bool) -> str:
    """Return the constants of all legs as rows of a table in C."""
    legs = platform.constants.legs
    limits = zip(platform.minimum_coordinates, platform.maximum_coordinates, strict=True)
    lines = []
    for leg, (lower, upper) in zip(legs.rows, limits, strict=True):
        vectors = [leg[start : start + 3] for start in (BASE_JOINT, PLATFORM_JOINT)]
        scalars: list[Any] = []
        if platform.dof < 6 or platform.leg.has_crank:
            vectors.append(leg[AXIS : AXIS + 3])
        if platform.leg.has_crank:
            vectors.append(leg[rss.ZERO_DIRECTION : rss.ZERO_DIRECTION + 3])
            scalars = [
                leg[k]
                for k in (rss.CRANK_LENGTH, rss.ROD_LENGTH, rss.ELBOW_BRANCH, rss.MIDDLE_ANGLE)
            ]
        if isinstance(legs, UpuLegs):
            vectors += [leg[start : start + 3] for start in (AXIS, upu.PLATFORM_AXIS)]
            scalars = [leg[upu.SCREW_TRAVEL], leg[upu.HOME_TWIST]]
        entries = [_row(vector, is_float) for vector in vectors]
        entries += [number(value, is_float) for value in (*scalars, lower, upper)]
        lines.append("    {" + ",\n     ".join(entries) + "},")
    return "\n".join(lines)


def _row(values: FloatArray, is_float: bool) -> str:
    return "{" + ", ".join(number(value, is_float) for value in values) + "}"


def number(value: float, is_float: bool) -> str:
    """Return a number as C reads it back without loss."""
    text = str(np.float32(value)) if is_float else repr(float(value))
    text = text if re.search(r"[.e]", text) else f"{text}.0"
    return f"{text}f" if is_float else text
