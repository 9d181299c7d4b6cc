"""Machines whose bodies feel something else than gravity along -z."""

from __future__ import annotations

from twin.analysis.platform import Platform
from twin.kernels.dynamics.assembly import BODY_GRAVITY

LEANING = (2.3, -1.7, -6.1)
"""[m/s2]; no entry zero or like another."""


def in_field(platform, field):
    """Return the machine where every body feels `field` (3,) [m/s2]; None: as it is."""
    if field is None:
        return platform
    body = platform.constants.body.copy()
    body[BODY_GRAVITY : BODY_GRAVITY + 3] = field
    other = Platform(platform.parameters)
    other.constants = platform.constants._replace(body=body)
    return other
