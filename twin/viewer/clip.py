"""Clips: endings and rates of their files, and clips of given pictures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import positive
from twin.basics.files import check_place
from twin.errors import InputError
from twin.viewer.picture_files import FASTEST_GIF, write_gif, write_mp4

RATES = {".mp4": 30.0, ".gif": 15.0}
"""Default pictures per second, by the ending of a film's name."""

PICTURE = ".png"
"""Ending of the name of a single picture."""

FASTEST = 240.0
"""[1/s] Pictures of a film."""

SAMPLES = 8
"""Pictures that a GIF's colours are chosen by."""


def write_clip(images: Iterable[Any], path: str | Path, *, rate: Any = None) -> Path:
    """Write pictures, such as those of an environment, as a clip and return its path.

    Args:
        images: `(height, width, 3)` uint8 each, all of one size.
        path: ends in .mp4 (H.264, even numbers of pixels) or .gif (repeats for ever).
        rate: pictures per second; default 30 for MP4 and 15 for GIF.

    Raises:
        InputError: no pictures, other shapes or types, a rate out of range, an ending that is not
            known, a place that cannot be written to.
        MissingDependencyError: a library of the extra `render` is not installed.
        StateError: the program that codes MP4 failed.
    """
    pictures = [np.ascontiguousarray(image) for image in images]
    shape = pictures[0].shape if pictures else ()
    if len(shape) != 3 or shape[2] != 3:
        raise InputError("images", "must be pictures of shape (height, width, 3), at least one")
    if any(each.shape != shape or each.dtype != np.uint8 for each in pictures):
        raise InputError("images", "must be of one size, with numbers of type uint8")
    height, width = shape[:2]
    target = check_film(path, width, height)
    frequency = picture_rate(rate, target)
    if target.suffix == ".mp4":
        return write_mp4(target, pictures, (width, height), frequency)
    chosen = pictures[:: -(-len(pictures) // SAMPLES)]
    return write_gif(target, pictures, chosen, frequency, len(pictures))


def check_film(path: str | Path, width: int, height: int) -> Path:
    """Return the path of a film that can probably be written.

    Raises:
        InputError: an ending that is not known, no such folder, odd numbers of pixels for MP4.
    """
    target = _place(path, tuple(RATES))
    odd = any(isinstance(size, int) and size % 2 for size in (width, height))
    if target.suffix == ".mp4" and odd:
        wide, high = width + width % 2, height + height % 2
        raise InputError("size", f"MP4 takes even numbers of pixels: try {wide}x{high}, or a GIF")
    return target


def check_picture(path: str | Path) -> Path:
    """Return the path of a picture that can probably be written.

    Raises:
        InputError: another ending than .png, no such folder.
    """
    return _place(path, (PICTURE,))


def _place(path: str | Path, endings: tuple[str, ...]) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix not in endings:
        raise InputError("path", f"must end in {' or '.join(endings)}, got {str(path)!r}")
    check_place(path)
    return Path(path)


def picture_rate(rate: Any, target: Path) -> float:
    """Return the pictures per second of a film, by its name where None is given.

    Raises:
        InputError: out of range.
    """
    value = RATES[target.suffix] if rate is None else positive(rate, "rate")
    most = FASTEST_GIF if target.suffix == ".gif" else FASTEST
    if value > most:
        raise InputError("rate", f"must be at most {most:g} pictures per second")
    return value
