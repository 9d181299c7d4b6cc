"""Kinds of legs: parameters, constants for the equations, mechanism, and template."""

from twin.machine.legs.leg import LegKind
from twin.machine.legs.pillar import PILLAR_KIND
from twin.machine.legs.planes import RPS_KIND, RRS_KIND
from twin.machine.legs.rss import RSS_KIND
from twin.machine.legs.strut import STRUT_KIND
from twin.machine.legs.ups import UPS_KIND
from twin.machine.legs.upu import UPU_KIND
from twin.machine.legs.viscoelastic import VISCOELASTIC_KIND

LEG_KINDS: dict[str, LegKind] = {
    "ups": UPS_KIND,
    "strut": STRUT_KIND,
    "rss": RSS_KIND,
    "viscoelastic": VISCOELASTIC_KIND,
    "pillar": PILLAR_KIND,
    "rps": RPS_KIND,
    "rrs": RRS_KIND,
    "upu": UPU_KIND,
}
"""Value of `kind` in a platform.toml, and name of its template -> the kind."""
