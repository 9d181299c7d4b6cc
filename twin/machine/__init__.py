"""Validated, frozen models of platform.toml."""

from twin.machine.file.read import read_parameters
from twin.machine.machine import MachineParameters

__all__ = ["MachineParameters", "read_parameters"]
