"""An incremental encoder on the motor of an actuator."""

from __future__ import annotations

from pydantic import Field

from twin.machine.quantity import Whole
from twin.machine.table import Table


class Encoder(Table):
    """Counts over one turn of the motor, with an index pulse once a turn."""

    counts: Whole = Field(gt=0, description="Counts over one turn of the motor")

    def resolution(self, turn: float) -> float:
        """Return one count in the actuator's coordinate, for the travel of one turn."""
        return turn / self.counts
