"""The whole platform.toml, its tables checked against each other."""

from __future__ import annotations

from pydantic import model_validator

from twin.machine.description import MachineDescription
from twin.machine.home.checks import check_machine


class MachineParameters(MachineDescription):
    """Everything a platform.toml says about one machine."""

    @model_validator(mode="after")
    def _consistent(self) -> MachineParameters:
        check_machine(self)
        return self
