"""Leg kinds: what one leg is made of, and where it is when the platform is at home."""

from typing import Annotated

from pydantic import Field

from twin.machine.legs.appearance import (
    CrankAppearance,
    LegAppearance,
    PillarAppearance,
    SpringAppearance,
)
from twin.machine.legs.pillar import PillarLeg
from twin.machine.legs.rss import RssLeg
from twin.machine.legs.strut import StrutLeg
from twin.machine.legs.ups import UpsLeg
from twin.machine.legs.viscoelastic import ViscoelasticLeg

AnyLeg = UpsLeg | StrutLeg | RssLeg | ViscoelasticLeg | PillarLeg
"""Every kind has `kind`, `coordinate`, `dof`, `actuator`, and answers `home_coordinate`,
`home_row` and `home_problem` for its place."""

Leg = Annotated[AnyLeg, Field(discriminator="kind")]

LEG_KINDS = ("ups", "strut", "rss", "viscoelastic", "pillar")
"""Values of `kind`."""

__all__ = [
    "LEG_KINDS",
    "AnyLeg",
    "CrankAppearance",
    "Leg",
    "LegAppearance",
    "PillarAppearance",
    "PillarLeg",
    "RssLeg",
    "SpringAppearance",
    "StrutLeg",
    "UpsLeg",
    "ViscoelasticLeg",
]
