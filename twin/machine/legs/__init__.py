"""Kinds of legs, each a folder: parameters, constants for the equations, mechanism, template."""

from twin.machine.legs.leg import LegKind
from twin.machine.legs.pillar import PILLAR
from twin.machine.legs.rss import RSS
from twin.machine.legs.strut import STRUT
from twin.machine.legs.ups import UPS
from twin.machine.legs.viscoelastic import VISCOELASTIC

LEG_KINDS: dict[str, LegKind] = {
    "ups": UPS,
    "strut": STRUT,
    "rss": RSS,
    "viscoelastic": VISCOELASTIC,
    "pillar": PILLAR,
}
"""Value of `kind` in a platform.toml, and name of the folder -> the kind."""
