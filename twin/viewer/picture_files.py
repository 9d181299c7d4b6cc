"""Files of pictures: one as PNG, many as GIF or as MP4; none is ever seen half written.

The ending of a film's name decides on its format.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray, as_array, bounded
from twin.basics.files import check_place, write_atomically
from twin.basics.optional import optional
from twin.errors import InputError, MissingDependencyError, StateError, brief

if TYPE_CHECKING:
    from twin.viewer.camera import Image

GIF_COLORS = 255
"""Number of colours of a GIF, in addition to the one that means "as before"."""

MAX_GIF_RATE = 50.0
"""[1/s] Largest rate of a GIF: browsers show pictures that stay for one tick slowly."""

COLOR_WEIGHT_LIMIT = 0.25
"""Largest weight of a colour in the choice of a GIF's palette, over the square root of the number
of pixels.
"""

GIF_TICK = 0.01
"""[s] Unit in which a GIF counts how long each of its pictures stays."""

DITHER_AMPLITUDE = 3.0
"""Difference in brightness, of 255, over which neighbouring pixels hide the steps of a GIF's few
colours; the pattern stays in place, so that what stands still costs nothing.
"""

ERROR_LINES = 5
"""Number of the last lines of the program that codes MP4 which an error shows."""

CONSTANT_QUALITY = "18"
"""H.264 constant rate factor: visually lossless."""


def write_png(path: str | Path, image: Image) -> Path:
    """Write a picture `(height, width, 3)` as PNG and return its path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: Pillow is not installed.
    """
    picture = _pillow().fromarray(image)
    return write_atomically(path, lambda file: picture.save(file, "PNG", optimize=True))


def write_gif(
    path: str | Path, images: Iterable[Image], samples: Sequence[Image], rate: float, count: int
) -> Path:
    """Write pictures as a GIF that repeats for ever, and return its path.

    Args:
        path: of the file.
        images: `(height, width, 3)` each; taken one after the other.
        samples: some of them, which its colours are chosen by.
        rate: pictures per second, at most `MAX_GIF_RATE`.
        count: of the images.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: Pillow is not installed.
    """
    pillow = _pillow()
    palette = _palette(pillow, samples)
    reduced = (_reduced(pillow, image, palette) for image in images)
    frame_ticks = np.diff(np.round(np.arange(count + 1) / (rate * GIF_TICK)))
    stay = [int(1e3 * GIF_TICK * frame_tick) for frame_tick in frame_ticks]
    settings = {"save_all": True, "loop": 0, "optimize": False, "duration": stay}
    first_frame = next(reduced)
    return write_atomically(
        path, lambda file: first_frame.save(file, "GIF", append_images=reduced, **settings)
    )


def write_mp4(
    path: str | Path, images: Iterable[Image], size: tuple[int, int], rate: float
) -> Path:
    """Write pictures as a clip (H.264, yuv420p) that browsers play, and return its path.

    Args:
        path: of the file.
        images: `(height, width, 3)` each, in even numbers; taken one after the other.
        size: width and height [pixels].
        rate: pictures per second.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: imageio-ffmpeg or its program is not installed.
        StateError: the program failed; says why.
    """
    with tempfile.TemporaryDirectory() as folder:
        clip = Path(folder) / "clip.mp4"
        _code_mp4(_ffmpeg(size, rate, clip), images)
        with clip.open("rb") as mp4_file:
            return write_atomically(path, lambda file: shutil.copyfileobj(mp4_file, file))


def _ffmpeg(size: tuple[int, int], rate: float, clip: Path) -> list[str]:
    """Return the command that codes raw pictures as MP4.

    Raises:
        MissingDependencyError: imageio-ffmpeg or its program is not installed.
    """
    try:
        program = optional("imageio_ffmpeg").get_ffmpeg_exe()
    except RuntimeError:
        raise MissingDependencyError("ffmpeg", "Writing MP4", "apt-get install ffmpeg") from None
    pixels = ("-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}")
    rates = ("-r", str(Fraction(rate).limit_denominator()))
    colors = ("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709")
    scale = ("-vf", "scale=out_color_matrix=bt709:out_range=tv", *colors)
    coding = ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", CONSTANT_QUALITY)
    output = ("-preset", "medium", "-movflags", "+faststart", "-v", "error", str(clip))
    return [
        program, "-y", "-f", "rawvideo", *pixels, *rates, "-i", "-", "-an", *coding, *scale, *output
    ]  # fmt: skip


def _code_mp4(command: list[str], images: Iterable[Image]) -> None:
    """Pipe pictures to the program that encodes them.

    Raises:
        MissingDependencyError: the program cannot be started.
        StateError: it failed; says why.
    """
    with tempfile.TemporaryFile() as error_file:
        try:
            # Ctrl-C is for this process, which then ends the other.
            coder = Popen(
                command, stdin=PIPE, stderr=error_file, stdout=DEVNULL, start_new_session=True
            )
        except OSError:
            install = "apt-get install ffmpeg"
            raise MissingDependencyError("ffmpeg", "Writing MP4", install) from None
        with coder:
            assert coder.stdin is not None
            try:
                for image in images:
                    coder.stdin.write(np.ascontiguousarray(image).data)
                coder.stdin.close()
            except OSError:
                coder.wait()  # it ended early, and says why
            except BaseException:
                coder.kill()
                raise
        if coder.returncode or not Path(command[-1]).is_file():
            error_file.seek(0)
            lines = error_file.read().decode(errors="replace").split("\n")
            reason = "; ".join(filter(None, map(str.strip, lines[-ERROR_LINES:])))
            raise StateError(
                f"ffmpeg could not write the film (exit code {coder.returncode}): "
                f"{reason or 'it gives no reason'}"
            )


def _pillow() -> ModuleType:
    return optional("PIL.Image")


def _palette(pillow: ModuleType, samples: Sequence[Image]) -> Any:
    """Return an image of the palette that represents sample pictures best.

    Colours of large areas count little more than those of small parts, which would go lost.
    """
    pixels = np.concatenate([sample.reshape(-1, 3) for sample in samples])
    colors, counts = np.unique(pixels, axis=0, return_counts=True)
    heavy = np.minimum(counts, int(np.ceil(COLOR_WEIGHT_LIMIT * np.sqrt(len(pixels)))))
    sheet = pillow.fromarray(np.repeat(colors, heavy, axis=0)[None])
    return sheet.quantize(GIF_COLORS, method=pillow.Quantize.MEDIANCUT)


def _reduced(pillow: ModuleType, image: Image, palette: Any) -> Any:
    """Return a picture in the colours of a palette."""
    height, width = image.shape[:2]
    pattern = np.tile(_threshold(3), (height // 8 + 1, width // 8 + 1))[:height, :width, None]
    varied = np.clip(image + DITHER_AMPLITUDE * pattern, 0.0, 255.0).astype(np.uint8)
    return pillow.fromarray(varied).quantize(palette=palette, dither=pillow.Dither.NONE)


def _threshold(order: int) -> FloatArray:
    """Return Bayer's pattern `(2^order, 2^order)`, from -1/2 to 1/2."""
    ranks = np.zeros((1, 1))
    for _ in range(order):
        ranks = np.block([[4 * ranks, 4 * ranks + 2], [4 * ranks + 3, 4 * ranks + 1]])
    return np.asarray((ranks + 0.5) / ranks.size - 0.5)


DEFAULT_RATES = {".mp4": 30.0, ".gif": 15.0}
"""Default pictures per second, by the ending of a film's name."""

PICTURE_SUFFIX = ".png"
"""Ending of the name of a single picture."""

MAX_RATE = 240.0
"""[1/s] Largest rate of pictures of a film."""

MIN_RATE = 0.01
"""[1/s] Lowest rate of pictures of a film; a GIF counts at most 655 s for each."""

PALETTE_SAMPLES = 8
"""Number of pictures that a GIF's colours are chosen by."""


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
    try:
        pictures = [np.ascontiguousarray(as_array(image, "images")) for image in images]
    except TypeError:
        raise InputError("images", f"must be pictures, not {brief(images)}") from None
    shape = pictures[0].shape if pictures else ()
    if len(shape) != 3 or shape[2] != 3:
        raise InputError("images", "must be pictures of shape (height, width, 3), at least one")
    if any(picture.shape != shape or picture.dtype != np.uint8 for picture in pictures):
        raise InputError("images", "must be of one size, with numbers of type uint8")
    height, width = shape[:2]
    target = check_film(path, width, height)
    frequency = picture_rate(rate, target)
    if target.suffix == ".mp4":
        return write_mp4(target, pictures, (width, height), frequency)
    palette_samples = pictures[:: -(-len(pictures) // PALETTE_SAMPLES)]
    return write_gif(target, pictures, palette_samples, frequency, len(pictures))


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
