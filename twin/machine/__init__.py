"""Validated, frozen models of platform.toml."""

from twin.machine.machine import MachineParameters
from twin.machine.read import read_parameters

__all__ = ["MachineParameters", "read_parameters"]
