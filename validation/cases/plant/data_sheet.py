"""Expected parameters of a machine's drives at the leg, from its file or the motor's data sheet.

Nothing here calls the code of the drives. A wrong gear ratio or a wrong entry in the constants of a
drive therefore changes what the test bench measures, but not what is expected of it.
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
    """The parameters of one drive at its leg, in m and N (leg length) or rad and N m (crank)."""

    inertia: float
    """motor inertia [kg] or [kg m2]"""
    friction: float
    """Coulomb friction while the motor moves [N] or [N m]"""
    breakaway: float
    """friction at rest [N] or [N m]"""
    stribeck_speed: float
    """speed [m/s] or [rad/s] over which friction falls from breakaway to Coulomb friction"""
    viscous: float
    """viscous damping [N s/m] or [N m s/rad]"""
    backlash: float
    """whole width of the backlash [m] or [rad]"""
    stiffness: float
    """stiffness [N/m] or [N m/rad] of the transmission, and of the end stops"""
    damping: float
    """damping [N s/m] or [N m s/rad] of the transmission, and of the end stops"""
    brake: float
    """holding force [N] or torque [N m] of the closed brake, friction apart"""
    brake_times: tuple[float, float]
    """times [s] to engage and to release the brake"""
    peak: float
    """peak effort [N] or [N m]; infinite for no limit"""
    continuous: float
    """continuous effort [N] or [N m]; infinite for no limit"""
    thermal_time: float | None
    """thermal time constant of the motor [s]"""
    speed: float
    """speed limit [m/s] or [rad/s]; infinite for no limit"""
    limits: tuple[float, float]
    """coordinates of the limit switches [m] or [rad]"""
    end_stops: tuple[float, float] | None
    """coordinates of the end stops [m] or [rad]; None for no stops"""
    full_scale_code: float
    """code of the full range of the analogue command, 2^(bits - 1); zero for exact commands"""
    resolution: float
    """one count of the encoder [m] or [rad]; zero for an exact encoder"""
    counts_per_turn: int
    """counts of the encoder over one turn"""

    def friction_at(self, speed: FloatArray) -> FloatArray:
        """Return the friction at speeds above zero: Coulomb, Stribeck and viscous friction."""
        stribeck = np.exp(-((speed / self.stribeck_speed) ** 2))
        level = self.friction + (self.breakaway - self.friction) * stribeck
        return np.asarray(level + self.viscous * speed)

    def nearest_code(self, command: FloatArray, full_range: float) -> FloatArray:
        """Return the converter's code nearest to a command, from minus full scale to one below."""
        code = np.rint(command * self.full_scale_code / full_range)
        return np.asarray(np.clip(code, -self.full_scale_code, self.full_scale_code - 1.0))


def drive_numbers(machine: Platform) -> DriveNumbers:
    """Return the parameters of a machine's first drive; all drives of a machine are alike.

    The motor's inertia, friction and brake come from the typed data sheet, where there is one.
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
    overtravel = drive.overtravel
    counts = leg.encoder.counts if leg.encoder else 0
    return DriveNumbers(
        inertia=inertia,
        friction=friction,
        breakaway=friction * drive.breakaway,
        stribeck_speed=drive.stribeck_speed,
        viscous=viscous,
        backlash=drive.backlash,
        stiffness=drive.stiffness,
        damping=drive.damping,
        brake=brake,
        brake_times=(drive.brake_engage_time, drive.brake_release_time),
        peak=peak,
        continuous=actuator.continuous_effort or peak,
        thermal_time=drive.thermal_time,
        speed=actuator.speed or inf,
        limits=(low, high),
        end_stops=None if overtravel is None else (low - overtravel, high + overtravel),
        full_scale_code=2.0 ** (drive.analogue_bits - 1) if drive.analogue_bits else 0.0,
        resolution=travel / counts if counts else 0.0,
        counts_per_turn=counts,
    )
