"""Observability indices of a set of poses, from the singular values of its residuals.

References: O1: Borm and Menq (1991); O2: Driels and Pathre (1990); O3: Nahvi, Hollerbach and
Hayward (1994); O4: Nahvi and Hollerbach (1996); O5: Sun and Hollerbach (2008), who compare all.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray

MEANINGS = {
    "O1": "geometric mean of the singular values, per root of the number of poses",
    "O2": "smallest per largest singular value",
    "O3": "smallest singular value",
    "O4": "square of the smallest per largest singular value",
    "O5": "inverse of the sum of inverse singular values",
}


def observability(sizes: FloatArray, poses: int) -> dict[str, float]:
    """Return the five indices of singular values `(q,)` [1/m], larger is better.

    Residuals are in standard deviations of their noise, unknowns in m at the machine's joints; so
    1 / O3 is the largest standard error [m] of any combination of unknowns.

    Args:
        sizes: singular values that belong to directions which can be seen.
        poses: their number.
    """
    if not len(sizes) or sizes.min() <= 0.0:
        return dict.fromkeys(MEANINGS, 0.0)
    least, most = float(sizes.min()), float(sizes.max())
    mean = float(np.exp(np.log(sizes).mean()) / np.sqrt(poses))
    values = (mean, least / most, least, least**2 / most, float(1.0 / (1.0 / sizes).sum()))
    return dict(zip(MEANINGS, values, strict=True))
