"""Validated, frozen models of platform.toml."""

from twin.parameters.machine import MachineParameters
from twin.parameters.read import read_parameters

__all__ = ["MachineParameters", "read_parameters"]
