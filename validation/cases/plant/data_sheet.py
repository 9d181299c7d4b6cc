"""Numbers of a machine's drives at the leg, worked out once more from its file or a data sheet.

Nothing here calls the code of the drives: a motor that is carried wrongly to the leg, or a column
of its constants that is filled wrongly, moves on the bench and not here.
"""

from __future__ import annotations

from math import inf, pi
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.machine.hardware.drive import DirectDrive, GearDrive, ScrewDrive
from twin.validation.published.machines import NAMES, typed_numbers


class DriveNumbers(NamedTuple):
    """A drive and the electronics of one leg, in m and N of a length or rad and N m of a crank."""

    inertia: float
    """[kg] or [kg m2] of the motor"""
    friction: float
    """[N] or [N m] while sliding"""
    breakaway: float
    """[N] or [N m] at rest"""
    stribeck: float
    """[m/s] or [rad/s] over which friction falls"""
    viscous: float
    """[N s/m] or [N m s/rad]"""
    play: float
    """[m] or [rad] whole width"""
    stiffness: float
    """[N/m] or [N m/rad] of the transmission and of the end stops"""
    damping: float
    """[N s/m] or [N m s/rad], the same"""
    brake: float
    """[N] or [N m] that a closed brake holds, beside friction"""
    brake_times: tuple[float, float]
    """[s] to engage and to release"""
    peak: float
    """[N] or [N m]; infinite for no limit"""
    continuous: float
    """[N] or [N m]; infinite for no limit"""
    thermal_time: float | None
    """[s]"""
    speed: float
    """[m/s] or [rad/s]; infinite for no limit"""
    limits: tuple[float, float]
    """[m] or [rad] of the switches"""
    stops: tuple[float, float] | None
    """[m] or [rad] of the end stops; None for no stops"""
    codes: float
    """largest code of the analogue command, plus one; zero for exact commands"""
    resolution: float
    """[m] or [rad] of one count of the encoder; zero for an exact one"""
    turn: int
    """counts over one turn"""

    def friction_at(self, speed: FloatArray) -> FloatArray:
        """Return friction at speeds above zero: dry, with Stribeck's fall, and viscous."""
        falling = np.exp(-((speed / self.stribeck) ** 2))
        level = self.friction + (self.breakaway - self.friction) * falling
        return np.asarray(level + self.viscous * speed)

    def nearest_code(self, command: FloatArray, full: float) -> FloatArray:
        """Return the code of a converter of range `full` that is nearest to a command."""
        code = np.rint(command * self.codes / full)
        return np.asarray(np.clip(code, -self.codes, self.codes - 1.0))


def drive_numbers(machine: Platform) -> DriveNumbers:
    """Return the numbers of a machine's first drive; all drives of a machine are alike.

    What the motor is at the leg comes from the typed data sheet of the machine, where there is one.
    """
    leg = machine.parameters.legs[0]
    drive, actuator = leg.drive, leg.actuator
    if isinstance(drive, DirectDrive):
        motor = (drive.moving_mass, drive.friction, drive.viscous, drive.brake)
        travel = drive.scale_period or 0.0
    else:
        assert isinstance(drive, ScrewDrive | GearDrive)
        gear = drive.ratio if isinstance(drive, GearDrive) else 2.0 * pi / drive.lead
        motor = (
            drive.armature_inertia * gear**2,
            drive.friction_torque * gear,
            drive.viscous_torque * gear**2,
            drive.brake_torque * gear,
        )
        travel = 2.0 * pi / gear
    typed = typed_numbers(machine.name) if machine.name in NAMES else {}
    if sheet := typed.get("drive_at_leg"):
        motor = sheet["inertia"], sheet["friction"], sheet["viscous"], sheet["brake"]
    inertia, friction, viscous, brake = motor
    peak = drive.peak or actuator.effort or inf
    low, high = actuator.minimum, actuator.maximum
    beyond = drive.overtravel
    counts = leg.encoder.counts if leg.encoder else 0
    return DriveNumbers(
        inertia=inertia,
        friction=friction,
        breakaway=friction * drive.breakaway,
        stribeck=drive.stribeck_speed,
        viscous=viscous,
        play=drive.backlash,
        stiffness=drive.stiffness,
        damping=drive.damping,
        brake=brake,
        brake_times=(drive.brake_engage_time, drive.brake_release_time),
        peak=peak,
        continuous=actuator.continuous_effort or peak,
        thermal_time=drive.thermal_time,
        speed=actuator.speed or inf,
        limits=(low, high),
        stops=None if beyond is None else (low - beyond, high + beyond),
        codes=2.0 ** (drive.analogue_bits - 1) if drive.analogue_bits else 0.0,
        resolution=travel / counts if counts else 0.0,
        turn=counts,
    )
