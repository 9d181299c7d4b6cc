"""`modelDescription.xml` of a unit, in FMI 3.0 and 2.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from twin import __version__
from twin.engines.fmu.variables import Block, Variable

BASE_UNITS = {
    "1": {},
    "s": {"s": 1},
    "m": {"m": 1},
    "rad": {"rad": 1},
    "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "kg": {"kg": 1},
    "kg.m2": {"kg": 1, "m": 2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
}
"""Unit -> exponents of SI units."""


class Unit(NamedTuple):
    """Entries of a description beside the variables."""

    name: str
    """of the machine and of the library"""
    token: str
    """that the library names too"""
    text: str
    """one line on the machine"""
    timestep: float
    """longest integration step [s]"""


def description(unit: Unit, blocks: Sequence[Block], fmi: int) -> bytes:
    """Return the description as XML; `fmi` is 2 or 3."""
    root = ElementTree.Element(
        "fmiModelDescription",
        {
            "fmiVersion": f"{fmi}.0",
            "modelName": unit.name,
            "instantiationToken" if fmi == 3 else "guid": unit.token,
            "description": unit.text,
            "generationTool": f"platform-twin {__version__}",
            "variableNamingConvention": "structured",
        },
    )
    able = {"canHandleVariableCommunicationStepSize": "true"}
    spelling = "FMUState" if fmi == 3 else "FMUstate"
    able |= {f"canGetAndSet{spelling}": "true", f"canSerialize{spelling}": "true"}
    if fmi == 3:
        able["fixedInternalStepSize"] = repr(unit.timestep)
    ElementTree.SubElement(root, "CoSimulation", {"modelIdentifier": unit.name, **able})
    variables = [variable for block in blocks for variable in block.variables]
    _add_units(root, {variable.unit for variable in variables})
    categories = ElementTree.SubElement(root, "LogCategories")
    ElementTree.SubElement(categories, "Category", name="logStatusError")
    span = {"startTime": "0", "stopTime": "1", "stepSize": repr(max(1e-3, unit.timestep))}
    ElementTree.SubElement(root, "DefaultExperiment", span)
    listed = ElementTree.SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        _add_variable(listed, variable, reference, fmi)
    _add_structure(root, variables, fmi)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return text + b"\n"


def _add_units(root: ElementTree.Element, units: set[str]) -> None:
    definitions = ElementTree.SubElement(root, "UnitDefinitions")
    for name in sorted(units):
        element = ElementTree.SubElement(definitions, "Unit", name=name)
        exponents = {key: str(value) for key, value in BASE_UNITS[name].items()}
        ElementTree.SubElement(element, "BaseUnit", exponents)


def _add_variable(
    parent: ElementTree.Element, variable: Variable, reference: int, fmi: int
) -> None:
    """Add a variable; those that the unit computes have no value at the start."""
    words = {
        "name": variable.name,
        "valueReference": str(reference),
        "causality": variable.causality,
        "variability": variable.variability,
        "description": variable.description,
    }
    initial = {"parameter": "exact", "output": "calculated"}.get(variable.causality)
    if initial:
        words["initial"] = initial
    number = {"unit": variable.unit}
    if variable.causality in ("input", "parameter"):
        number["start"] = repr(variable.start)
    if fmi == 3:
        ElementTree.SubElement(parent, "Float64", words | number)
    else:
        element = ElementTree.SubElement(parent, "ScalarVariable", words)
        ElementTree.SubElement(element, "Real", number)


def _add_structure(root: ElementTree.Element, variables: Sequence[Variable], fmi: int) -> None:
    """List the outputs: they follow from the state, so that no input acts on them at once."""
    structure = ElementTree.SubElement(root, "ModelStructure")
    outputs = [k for k, variable in enumerate(variables) if variable.causality == "output"]
    if fmi == 3:
        for k in outputs:
            ElementTree.SubElement(structure, "Output", valueReference=str(k), dependencies="")
        for k in outputs:
            ElementTree.SubElement(structure, "InitialUnknown", valueReference=str(k))
        return
    for name, further in (("Outputs", {"dependencies": ""}), ("InitialUnknowns", {})):
        unknowns = ElementTree.SubElement(structure, name)
        for k in outputs:
            ElementTree.SubElement(unknowns, "Unknown", {"index": str(k + 1), **further})
