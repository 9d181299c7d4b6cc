"""Sentences and tables of a calibration: errors before and after, and what poses do not show."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.calibration.calibration import Calibration
from twin.charts.text import number
from twin.errors import listed

LISTED = 8
"""Combinations that are named at most."""

FRAMES = {
    "both": "The frames of tracker and target are unknown",
    "tracker": "The frame of the tracker is unknown",
    "target": "The frame of the target is unknown",
    "known": "Both frames are known",
}


def error_rows(found: Calibration) -> list[tuple[str, ...]]:
    """Return rows of errors of poses: name, mean, 95 % quantile, largest, unit."""
    errors = found.errors_of(found.checked)
    return [
        (f"{part}, {when}", *_statistics(1e6 * getattr(each, part)), unit)
        for part, unit in (("position", "um"), ("angle", "urad"))
        for when, each in zip(("before", "after"), errors, strict=True)
    ]


def findings(found: Calibration) -> list[str]:
    """Return what is fixed, what the poses do not show, and what does not fit."""
    after = found.after
    texts = [
        f"{FRAMES[found.frames_free]}: {found.gauge.free} directions of the errors are shown by no "
        "measurement and fixed, so that joints lie as near to the file's as they can. Of "
        f"{len(after.sizes)} others, frames included, the poses show {after.rank}."
    ]
    source = "held at the file's value" if found.tolerance is None else "from the tolerance"
    unseen = found.unseen
    texts += [f"Not shown: {text} ({source})." for text in unseen[:LISTED]]
    if len(unseen) > LISTED:
        texts.append(f"Not shown: {len(unseen) - LISTED} more combinations ({source}).")
    poses = [(found.left_out, "left out"), (found.used.kept(after.wrong), "try --robust")]
    for these, remedy in poses:
        if len(these):
            numbers = listed(f"{value:.9g}" for value in these.numbers)
            texts.append(f"Wrong beyond noise ({remedy}): the poses at {numbers}.")
    if found.implausible:
        far = np.abs(found.errors / found.model.errors.scales).max()
        texts.append(
            f"A joint or offset is {1e3 * far:.3g} mm from the file's, farther than machines are "
            "usually made: check units, frames and the order of legs, unless the file is a draft."
        )
    if after.noisy:
        texts.append(
            f"Residuals are {np.sqrt(after.ratio):.3g} times the stated noise, and the standard "
            "errors are raised by that: noise is larger, or something else than joints is wrong."
        )
    return texts


def _statistics(values: FloatArray) -> tuple[str, str, str]:
    """Return mean, 95 % quantile and largest of values, without NaN."""
    values = values[np.isfinite(values)]
    if not len(values):
        return "-", "-", "-"
    found = values.mean(), np.quantile(values, 0.95), values.max()
    mean, most, largest = (number(float(value), 3) for value in found)
    return mean, most, largest
