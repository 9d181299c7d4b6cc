"""Drives for the test bench of the validation, described by the names of their columns."""

import numpy as np

from twin.kernels.plant import columns as column
from twin.plant.drives import IDEAL_DRIVE
from twin.validation.cases.plant.trials import DriveBench

THESIS = {"inertia": 719.0, "stiffness": 2e7, "damping": 14e3}
"""Motor and screw of the thesis' machine, rounded, without friction and backlash."""

LEG = 33.5
"""[kg] What a leg of that machine moves, rounded."""


def place(name):
    """Return the column of constants or states of a name."""
    return getattr(column, name.upper())


def constants(**values):
    """Return the constants `(1, CONSTANTS)` of a drive, ideal but for the columns named."""
    row = np.zeros((1, column.CONSTANT_COUNT))
    for index, value in IDEAL_DRIVE.items():
        row[0, index] = value
    for name, value in values.items():
        row[0, place(name)] = value
    if "friction" in values and "breakaway" not in values:
        row[0, column.BREAKAWAY] = values["friction"]
    return row


class Bench(DriveBench):
    """The bench, with columns by name."""

    def set(self, **values):
        """Set columns of the state."""
        for name, value in values.items():
            self.set_column(place(name), value)
        return self


def state(record, name):
    """Return one column of the drive's states by name."""
    return record.state(place(name))
