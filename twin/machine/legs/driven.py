"""What every leg may have besides its bodies: a drive and an encoder."""

from __future__ import annotations

from pydantic import Field

from twin.machine.drive import GearDrive, LinearDrive
from twin.machine.encoder import Encoder
from twin.machine.table import Table


class LinearLeg(Table):
    """A leg with a prismatic actuator."""

    drive: LinearDrive | None = Field(
        None, description="Drive of the actuator; leave out for an ideal one"
    )
    encoder: Encoder | None = Field(
        None, description="Encoder of the actuator; leave out for an exact one"
    )


class RotaryLeg(Table):
    """A leg with a motor that turns a crank."""

    drive: GearDrive | None = Field(
        None, description="Drive of the crank; leave out for an ideal one"
    )
    encoder: Encoder | None = Field(
        None, description="Encoder of the crank; leave out for an exact one"
    )
