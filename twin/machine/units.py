"""Units of data sheets: what each is in SI."""

from __future__ import annotations

import math
from difflib import get_close_matches

DEGREE, INCH, FOOT = math.pi / 180.0, 0.0254, 0.3048
POUND, OUNCE = 0.45359237, 0.028349523125
"""[kg]"""
GRAVITY = 9.80665
"""[m/s2] standard gravity, which turns masses into weights"""
POUND_FORCE, OUNCE_FORCE = POUND * GRAVITY, OUNCE * GRAVITY
"""[N]"""

UNITS: dict[str, dict[str, float]] = {
    "m": {
        **{"m": 1.0, "mm": 1e-3, "cm": 1e-2, "um": 1e-6, "nm": 1e-9},
        **{"in": INCH, "inch": INCH, "mil": 1e-3 * INCH, "ft": FOOT},
    },
    "rad": {
        **{"rad": 1.0, "mrad": 1e-3, "urad": 1e-6, "deg": DEGREE, "°": DEGREE, "rev": 360 * DEGREE},
        **{"arcmin": DEGREE / 60, "arcsec": DEGREE / 3600},
    },
    "kg": {"kg": 1.0, "g": 1e-3, "t": 1e3, "lb": POUND, "lbm": POUND, "oz": OUNCE},
    "kg m2": {
        **{"kg m2": 1.0, "kg cm2": 1e-4, "kg mm2": 1e-6, "g cm2": 1e-7, "g mm2": 1e-9},
        **{"lb in2": POUND * INCH**2, "lb ft2": POUND * FOOT**2, "oz in2": OUNCE * INCH**2},
        **{"lbf in s2": POUND_FORCE * INCH, "lbf ft s2": POUND_FORCE * FOOT},
        **{"ozf in s2": OUNCE_FORCE * INCH},
    },
    "kg/m3": {"kg/m3": 1.0, "g/cm3": 1e3, "kg/dm3": 1e3, "lb/in3": POUND / INCH**3},
    "N": {
        **{"N": 1.0, "kN": 1e3, "mN": 1e-3, "lbf": POUND_FORCE, "ozf": OUNCE_FORCE},
        **{"kgf": GRAVITY, "gf": 1e-3 * GRAVITY},
    },
    "m/s": {
        **{"m/s": 1.0, "mm/s": 1e-3, "cm/s": 1e-2, "um/s": 1e-6, "m/min": 1 / 60},
        **{"mm/min": 1e-3 / 60, "in/s": INCH, "in/min": INCH / 60, "ft/s": FOOT},
    },
    "m/s2": {
        **{"m/s2": 1.0, "mm/s2": 1e-3, "cm/s2": 1e-2, "g": GRAVITY, "mg": 1e-3 * GRAVITY},
        **{"in/s2": INCH, "ft/s2": FOOT},
    },
    "rad/s": {
        **{"rad/s": 1.0, "mrad/s": 1e-3, "deg/s": DEGREE, "°/s": DEGREE, "deg/h": DEGREE / 3600},
        **{"rpm": math.pi / 30.0, "rev/s": 2 * math.pi},
    },
    "rad/s2": {"rad/s2": 1.0, "deg/s2": DEGREE, "°/s2": DEGREE},
    "N m": {
        **{"N m": 1.0, "Nm": 1.0, "kN m": 1e3, "N cm": 1e-2, "Ncm": 1e-2, "N mm": 1e-3},
        **{"Nmm": 1e-3, "mN m": 1e-3, "mNm": 1e-3},
        **{"kgf m": GRAVITY, "kgf cm": 1e-2 * GRAVITY, "gf cm": 1e-5 * GRAVITY},
        **{"kg cm": 1e-2 * GRAVITY, "g cm": 1e-5 * GRAVITY},
        **{"lbf in": POUND_FORCE * INCH, "lbf ft": POUND_FORCE * FOOT},
        **{"lb in": POUND_FORCE * INCH, "lb ft": POUND_FORCE * FOOT},
        **{"ozf in": OUNCE_FORCE * INCH, "oz in": OUNCE_FORCE * INCH},
    },
    "W": {"W": 1.0, "kW": 1e3, "mW": 1e-3, "hp": 550 * POUND_FORCE * FOOT},
    "N/m": {
        **{"N/m": 1.0, "kN/m": 1e3, "MN/m": 1e6, "N/mm": 1e3, "N/um": 1e6},
        **{"lbf/in": POUND_FORCE / INCH, "lbf/ft": POUND_FORCE / FOOT},
    },
    "N s/m": {
        **{"N s/m": 1.0, "Ns/m": 1.0, "kN s/m": 1e3, "N s/mm": 1e3},
        "lbf s/in": POUND_FORCE / INCH,
    },
    "N m/rad": {
        **{"N m/rad": 1.0, "Nm/rad": 1.0, "kN m/rad": 1e3, "N m/deg": 1 / DEGREE},
        "lbf in/rad": POUND_FORCE * INCH,
    },
    "N m s/rad": {
        **{"N m s/rad": 1.0, "N m/krpm": 0.03 / math.pi, "Nm/krpm": 0.03 / math.pi},
    },
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0},
    "Hz": {"Hz": 1.0, "kHz": 1e3},
    "1/s": {"1/s": 1.0},
    "1/s2": {"1/s2": 1.0},
    "A": {"A": 1.0, "mA": 1e-3},
    "N/A": {"N/A": 1.0, "kN/A": 1e3},
    "N m/A": {"N m/A": 1.0, "Nm/A": 1.0, "mN m/A": 1e-3, "mNm/A": 1e-3},
    "degC": {"degC": 1.0},
}
"""SI unit -> the units of its kind as they are written, with their factors.

Exact by definition: inch, pound, standard gravity. "kg*mm^2", "kg-mm2" and "kg mm²" are "kg mm2".
Hobby servos print torques as "kg cm" and "oz in": there they are weights.
"""

KINDS = {
    **{"m": "length", "rad": "angle", "kg": "mass", "kg m2": "moment of inertia", "W": "power"},
    **{"kg/m3": "density", "N": "force", "N m": "torque", "s": "time", "Hz": "frequency"},
    **{"m/s": "speed", "rad/s": "angular speed", "m/s2": "acceleration", "N/m": "stiffness"},
    **{"rad/s2": "angular acceleration", "N s/m": "damping", "1/s": "rate", "1/s2": "rate squared"},
    **{"N m/rad": "rotary stiffness", "N m s/rad": "rotary damping"},
    **{"A": "current", "N/A": "force per current", "N m/A": "torque per current"},
    "degC": "temperature",
}
"""Quantity of every SI unit."""

SHOWN = 8
"""Most units that an error lists."""


def factor(given: str, unit: str) -> float:
    """Return what one `given` unit is in the SI `unit`.

    Raises:
        ValueError: the unit is none of its kind; says which are, the nearest first.
    """
    known = UNITS[unit]
    if given in known:
        return known[given]
    kinds = [KINDS[si] for si, names in UNITS.items() if given in names]
    near = get_close_matches(given, known, 3, cutoff=0.5)
    listed = [*near, *(name for name in known if name not in near)][:SHOWN]
    if kinds:
        found = f"{given!r} is a unit of {kinds[0]}, not of {KINDS[unit]}: "
    elif given:
        found = f"{given!r} is no unit of {KINDS[unit]}: "
    else:
        found = ""
    raise ValueError(
        f"no unit of the right kind; {found}write the number with one of "
        f"{', '.join(listed)}{', ...' if len(known) > len(listed) else ''}"
    )
