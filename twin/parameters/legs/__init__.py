"""Leg kinds: what one leg is made of, and where it is when the platform is at home."""

from typing import Annotated

from pydantic import Field

from twin.parameters.legs.appearance import (
    CrankAppearance,
    LegAppearance,
    PillarAppearance,
    SpringAppearance,
)
from twin.parameters.legs.pillar import PillarLeg
from twin.parameters.legs.rss import RssLeg
from twin.parameters.legs.strut import StrutLeg
from twin.parameters.legs.ups import UpsLeg
from twin.parameters.legs.viscoelastic import ViscoelasticLeg

AnyLeg = UpsLeg | StrutLeg | RssLeg | ViscoelasticLeg | PillarLeg
"""Every kind has `kind`, `coordinate`, `freedoms`, `actuator`, and answers `home_coordinate`,
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
