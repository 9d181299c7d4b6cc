"""Units of machines, driven through fmpy by the names of their variables."""

from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

from twin.engines.fmu.description import (
    CENTER_NAMES,
    INERTIA_NAMES,
    POSE_NAMES,
    TWIST_NAMES,
    WRENCH_NAMES,
    leg_names,
)
from twin.engines.fmu.unit import write_unit


class UnitFile:
    """An exported unit, unpacked once for many instances."""

    def __init__(self, platform, folder, fmi=3, **options):
        self.platform, self.fmi = platform, fmi
        self.file = write_unit(platform, folder, fmi, **options)
        self.folder = Path(fmpy.extract(str(self.file), str(folder / "unpacked")))
        self.described = fmpy.read_model_description(str(self.folder))
        self.references = {v.name: int(v.valueReference) for v in self.described.modelVariables}
        self.starts = {
            v.name: float(v.start) for v in self.described.modelVariables if v.start is not None
        }
        outputs = [v.name for v in self.described.modelVariables if v.causality == "output"]
        self.outputs = outputs
        springs = [name for name in outputs if name.startswith("deflection")]
        self.state = [*POSE_NAMES, *TWIST_NAMES, *springs]
        self.forces = leg_names("forces", platform.n_actuators)

    @property
    def library(self):
        """The shared library."""
        (found,) = self.folder.glob("binaries/*/*.so")
        return found


MADE = {}
"""Units of this process; each takes a second."""


def unit_of(platform, folder, fmi=3):
    """Return the unit of a machine, made once."""
    key = (platform.name, fmi)
    if key not in MADE:
        MADE[key] = UnitFile(platform, folder / f"{platform.name}{fmi}", fmi)
    return MADE[key]


class UnitRun:
    """One instance of a unit; `messages` holds what it logs."""

    def __init__(self, unit, **start):
        self.unit, self.messages = unit, list[str]()
        kind = FMU3Slave if unit.fmi == 3 else FMU2Slave
        self.fmu = kind(
            guid=unit.described.guid,
            unzipDirectory=str(unit.folder),
            modelIdentifier=unit.described.coSimulation.modelIdentifier,
            instanceName="one",
        )
        if unit.fmi == 3:
            self.fmu.instantiate(logMessage=lambda *words: self.messages.append(words[3].decode()))
        else:
            self.fmu.instantiate()
        self.time = 0.0
        if start:
            self.begin(**start)

    def begin(self, time=0.0, **values):
        """Set values, by their names or groups of names, and initialise."""
        self.time = time
        self.set(**values)
        if self.unit.fmi == 3:
            self.fmu.enterInitializationMode(startTime=time)
        else:
            self.fmu.setupExperiment(startTime=time)
            self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, values=None, **groups):
        """Set values by names, or all of a group: state, forces, wrench, payload."""
        named = {
            "state": [f"start.{name}" for name in self.unit.state],
            "forces": self.unit.forces,
            "wrench": WRENCH_NAMES,
            "payload": ["payload.mass", *CENTER_NAMES, *INERTIA_NAMES],
        }
        given = dict(values or {})
        for name, numbers in groups.items():
            given |= dict(zip(named[name], map(float, numbers), strict=True))
        setter = self.fmu.setFloat64 if self.unit.fmi == 3 else self.fmu.setReal
        if given:
            setter([self.unit.references[name] for name in given], list(given.values()))

    def get(self, names):
        """Return the values of variables."""
        getter = self.fmu.getFloat64 if self.unit.fmi == 3 else self.fmu.getReal
        return np.array(getter([self.unit.references[name] for name in names]))

    @property
    def state(self):
        """State, coordinates and rates of the actuators."""
        n = self.unit.platform.n_actuators
        return self.get([*self.unit.state, *leg_names("coordinates", n), *leg_names("rates", n)])

    def step(self, span):
        """Advance by one communication step [s]."""
        self.fmu.doStep(self.time, span)
        self.time += span
