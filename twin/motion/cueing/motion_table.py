"""Motions as CSV files that `twin.motion.read_recording` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import positive
from twin.basics.files import check_place, write_text
from twin.errors import InputError
from twin.motion.cueing.felt_manoeuvre import sample_times
from twin.motion.motion import Motion
from twin.motion.units import known_columns


def write_motion(motion: Motion, path: str | Path, period: Any = 0.01) -> Path:
    """Write the axes of a motion, with time and units in the header; returns the path.

    The columns are displacements from the motion's centre [m] and the angles of its convention
    [rad], ten digits after the point. `read_recording(path, motion.center)` gives the motion back
    as splines through these samples.

    Args:
        motion: any.
        path: the file to write.
        period: [s] between the lines.

    Raises:
        InputError: not a motion, the period longer than a tenth of it, the place cannot be written
            to.
    """
    if not isinstance(motion, Motion):
        raise InputError("motion", f"must be a Motion, not {motion!r}")
    step = positive(period, "period")
    if step > 0.1 * motion.duration:
        raise InputError("period", f"must be at most a tenth of the motion's {motion.duration:g} s")
    check_place(path)
    names = ["time", *motion.axis_names]
    known = known_columns(motion.convention)
    time = sample_times(motion, step)
    values = np.column_stack([time, motion.axes(time).values])
    lines = [",".join(f"{name} [{known[name].quantity.si}]" for name in names)]
    lines += [",".join(f"{value:.10f}" for value in row) for row in values + 0.0]
    return write_text(path, "\n".join(lines) + "\n")
