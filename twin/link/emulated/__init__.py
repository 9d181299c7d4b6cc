"""The emulated machine: drives, sensors and faults of a machine behind the interface of a link."""

from __future__ import annotations

from twin.link.emulated.fault import Fault, parse_fault
from twin.link.emulated.machine import EmulatedMachine

__all__ = ["EmulatedMachine", "Fault", "parse_fault"]
