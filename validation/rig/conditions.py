"""Conditions of a machine on the rig that its file does not describe, and faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from twin.errors import InputError


@dataclass(frozen=True)
class Fault:
    """A fault that begins at a time."""

    kind: Literal["friction", "slip", "lost_mass", "weak_motor", "frozen_encoder"]
    begin: float
    """[s] time at which it begins"""
    size: float = 0.0
    """friction: factor at the end of the rise; slip [m]; lost mass [kg]; weak motor: factor"""
    leg: int = 0
    """index of the leg; a lost mass has none, and friction with -1 is that of all legs"""
    rise: float = 1e-3
    """[s] time over which friction rises"""


@dataclass(frozen=True)
class Conditions:
    """A machine's friction, surroundings, sensors and faults. The defaults are a clean machine."""

    friction_law: Literal["square", "linear", "lugre"] = "square"
    """Stribeck's law with exponent 2 (as in files) or 1, or the bristles of LuGre"""
    load_friction: float = 0.0
    """dry friction per force of the leg"""
    warming_drop: float = 0.0
    """fraction of all friction that is gone once the machine is warm"""
    warming_time: float = 60.0
    """[s] time constant of warming"""
    cable_force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N] in base axes, on the platform at home"""
    cable_stiffness: float = 0.0
    """[N/m] of a spring from the platform at home"""
    cable_point: tuple[float, float, float] = (0.3, 0.0, 0.0)
    """[m] point of the platform at which the cable pulls, platform axes"""
    swinging_mass: float = 0.0
    """[kg] part of the payload that swings"""
    swinging_frequency: float = 1.0
    """[Hz] frequency of the swing along x and y"""
    swinging_damping: float = 0.03
    """damping ratio of the swing"""
    base_frequency: float = 0.0
    """[Hz] natural frequency of a base on springs; zero for a rigid base"""
    lead_errors: tuple[float, ...] = ()
    """relative errors of the screws' leads, one for each leg"""
    motor_constants: tuple[float, ...] = ()
    """force of a motor relative to the force that its drive assumes, one for each leg"""
    encoder_noise: float = 0.0
    """[m] standard deviation, before rounding to counts"""
    current_bias: tuple[float, ...] = ()
    """[N] biases of currents and motor forces, as forces"""
    current_resolution: float = 0.0
    """[N] resolution of currents and motor forces, as a force"""
    force_noise: float = 0.0
    """[N] standard deviation of all measured forces"""
    jitter: float = 0.0
    """[s] standard deviation of time stamps"""
    gaps: tuple[tuple[float, float], ...] = ()
    """[s] begin and length of times without samples"""
    tracker_rate: float = 0.0
    """[Hz] sample rate of a pose tracker; zero for no tracker"""
    tracker_delay: float = 0.0
    """[s] age of the tracker's poses at their time stamps"""
    tracker_noise: tuple[float, float] = (2e-5, 2e-5)
    """[m, rad] standard deviations of the tracker's poses"""
    faults: tuple[Fault, ...] = ()

    def for_legs(self, name: str, count: int, default: float) -> list[float]:
        """Return a field that has one entry for each leg; `default` where it is empty.

        Raises:
            InputError: another number of entries.
        """
        values = getattr(self, name)
        if values and len(values) != count:
            raise InputError(name, f"must have {count} entries, one for each leg")
        return list(values) or [default] * count
