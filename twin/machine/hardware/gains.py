"""Gains of a machine's own controller: position loop around the drives' velocity loop."""

from __future__ import annotations

from pydantic import Field

from twin.machine.quantity import Damping, Rate, RateSquared, RotaryDamping, Time
from twin.machine.table import Table


class CascadeGains(Table):
    """PI position loop with velocity feedforward around a PI velocity loop.

    Velocity loop: gain (1 + 1 / (time s)); position loop: gain + integral / s.
    """

    velocity_gain: Damping | None = Field(
        None, gt=0, description="Force per error in speed, of prismatic actuators"
    )
    crank_velocity_gain: RotaryDamping | None = Field(
        None, gt=0, description="Torque per error in speed, of cranks"
    )
    velocity_time: Time = Field(gt=0, description="Integral time of the velocity loop")
    position_gain: Rate = Field(gt=0, description="Speed per error in position")
    position_integral: RateSquared = Field(ge=0, description="Its integral")
    feedforward_start: Time = Field(
        0.0, ge=0, description="After the position loop, until velocity feedforward begins"
    )
    feedforward_rise: Time = Field(
        0.0, ge=0, description="Over which velocity feedforward rises to its full share"
    )
