"""Files of pictures: one as PNG, many as GIF or as MP4; none is ever seen half written.

The ending of a film's name decides on its format.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import bounded
from twin.basics.files import check_place, write_atomically
from twin.basics.optional import optional
from twin.errors import InputError, MissingDependencyError, StateError, brief

if TYPE_CHECKING:
    from twin.viewer.camera import Image

MAX_GIF_RATE = 50.0
"""[1/s] Largest rate of a GIF: browsers show pictures that stay for one tick slowly."""

MP4_OPTIONS = (
    "-crf 18 -preset medium -movflags +faststart -vf scale=out_color_matrix=bt709:out_range=tv "
    "-colorspace bt709 -color_primaries bt709 -color_trc bt709"
)
"""H.264 of constant quality, visually lossless, in the colours that browsers expect."""

GIF_OPTIONS = (
    "-loop 0 -filter_complex "
    "split[copy][images];[copy]palettegen[palette];"
    "[images][palette]paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle"
)
"""One palette for all pictures, and a dither that stays in place, so that what stands still costs
nothing.
"""

ENCODERS = {
    ".mp4": {"codec": "libx264", "pix_fmt_out": "yuv420p", "output_params": MP4_OPTIONS.split()},
    ".gif": {"codec": "gif", "pix_fmt_out": "pal8", "output_params": GIF_OPTIONS.split()},
}
"""Ending of a film's name -> arguments of `imageio_ffmpeg.write_frames`."""


def png_bytes(image: Image) -> bytes:
    """Return a picture `(height, width, 3)` as the bytes of a PNG file.

    Raises:
        MissingDependencyError: Pillow is not installed.
    """
    content = BytesIO()
    optional("PIL.Image").fromarray(image).save(content, "PNG", optimize=True)
    return content.getvalue()


def write_png(path: str | Path, image: Image) -> Path:
    """Write a picture `(height, width, 3)` as PNG and return its path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: Pillow is not installed.
    """
    content = png_bytes(image)
    return write_atomically(path, lambda file: file.write(content))


def write_images(path: Path, images: Iterable[Image], size: tuple[int, int], rate: float) -> Path:
    """Write pictures as a film and return its path.

    Args:
        path: of the file; ends in .mp4 (H.264, yuv420p) or .gif (repeats for ever).
        images: `(height, width, 3)` each; taken one after the other.
        size: width and height [pixels]; even numbers for MP4.
        rate: pictures per second.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: imageio-ffmpeg or its program is not installed.
        StateError: the program failed; it says why on the terminal.
    """
    library = optional("imageio_ffmpeg")
    try:
        program = shutil.which(library.get_ffmpeg_exe())
    except RuntimeError:
        program = None
    if program is None:
        raise MissingDependencyError("ffmpeg", "Writing films", "apt-get install ffmpeg")
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / f"film{path.suffix}"
        writer = library.write_frames(
            film,
            size,
            fps=rate,
            quality=None,
            macro_block_size=1,
            ffmpeg_log_level="error",
            **ENCODERS[path.suffix],
        )
        count = 0
        with closing(writer), suppress(OSError):  # of a program that has ended
            writer.send(None)
            for image in images:
                count += 1
                writer.send(np.ascontiguousarray(image))
        if _pictures_in(film) != count:
            raise StateError("ffmpeg could not write the film: see its own message")
        with film.open("rb") as content:
            return write_atomically(path, lambda file: shutil.copyfileobj(content, file))


def _pictures_in(film: Path) -> int:
    """Return the number of pictures of a film, 0 where it cannot be read.

    The library does not tell how the program that writes it ended.
    """
    try:
        return int(optional("imageio_ffmpeg").count_frames_and_secs(film)[0])
    except RuntimeError:
        return 0


DEFAULT_RATES = {".mp4": 30.0, ".gif": 15.0}
"""Default pictures per second, by the ending of a film's name."""

PICTURE_SUFFIX = ".png"
"""Ending of the name of a single picture."""

MAX_RATE = 240.0
"""[1/s] Largest rate of pictures of a film."""

MIN_RATE = 0.01
"""[1/s] Lowest rate of pictures of a film; a GIF counts at most 655 s for each."""


def check_film(path: str | Path, width: int, height: int) -> Path:
    """Return the path of a film that can probably be written.

    Raises:
        InputError: an ending that is not known, no such folder, odd numbers of pixels for MP4.
    """
    target = _output_path(path, tuple(DEFAULT_RATES))
    has_odd_size = any(isinstance(size, int) and size % 2 for size in (width, height))
    if target.suffix == ".mp4" and has_odd_size:
        even_width, even_height = width + width % 2, height + height % 2
        raise InputError(
            "size", f"MP4 takes even numbers of pixels: try {even_width}x{even_height}, or a GIF"
        )
    return target


def check_picture(path: str | Path) -> Path:
    """Return the path of a picture that can probably be written.

    Raises:
        InputError: another ending than .png, no such folder.
    """
    return _output_path(path, (PICTURE_SUFFIX,))


def _output_path(path: str | Path, endings: tuple[str, ...]) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix not in endings:
        raise InputError("path", f"must end in {' or '.join(endings)}, got {brief(path)}")
    check_place(path)
    return Path(path)


def picture_rate(rate: Any, target: Path) -> float:
    """Return the pictures per second of a film, by its name where None is given.

    Raises:
        InputError: out of range.
    """
    max_rate = MAX_GIF_RATE if target.suffix == ".gif" else MAX_RATE
    return (
        DEFAULT_RATES[target.suffix] if rate is None else bounded(rate, "rate", MIN_RATE, max_rate)
    )
