"""Design of a machine from what it must do."""

from twin.design.design import Design, design, front
from twin.design.specification import Specification, read_specification

__all__ = ["Design", "Specification", "design", "front", "read_specification"]
