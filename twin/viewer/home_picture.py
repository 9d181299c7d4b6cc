"""A small picture of a machine at home: its bodies, drawn by numpy alone, without OpenGL."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray, IndexArray
from twin.engines.mechanism import make_mechanism
from twin.machine.mechanism import PART_COLORS
from twin.model.machine_model import MachineModel
from twin.viewer.bodies.machine import (
    MATERIAL_LOOKS,
    SHADOW_MATERIAL,
    SHADOW_OPACITY,
    machine_bodies,
)

VIEW_AZIMUTH = np.radians(-62.0)
"""[rad] Direction from which the machine is seen, about z from x."""

VIEW_ELEVATION = np.radians(20.0)
"""[rad] Direction from which the machine is seen, above the horizon."""

PICTURE_SIZE = 240
"""[pixels] Larger side of the picture."""

PIXEL_SAMPLES = 3
"""Number of samples of a pixel along each side; their mean makes edges smooth."""

LIGHT_DIRECTION = np.array([-0.5, -0.7, 0.5]) / np.linalg.norm([-0.5, -0.7, 0.5])
"""Direction to the lamp: right, down, towards the viewer."""

AMBIENT_FRACTION = 0.6
"""Fraction of the light that comes from all around."""

TRIANGLES_PER_BLOCK = 2000
"""Number of triangles that are drawn at once."""

Samples = tuple[IndexArray, IndexArray, FloatArray]
"""Triangles and pixels that they cover, each `(k,)`, and how near they are there."""


def home_picture(platform: MachineModel) -> bytes:
    """Return a PNG of a machine at home on a transparent ground, without OpenGL.

    Raises:
        InputError: a mesh of the machine cannot be read.
        MissingDependencyError: a mesh needs trimesh.
    """
    machine = make_mechanism(platform.parameters)
    triangles, colours, shadows = [], [], []
    for body, material, mesh in machine_bodies(platform.parameters, machine):
        origin, rotation = machine.home_frames[body]
        projected = _project(mesh.vertices @ rotation.T + origin)[mesh.faces]
        if material == SHADOW_MATERIAL:
            shadows.append(projected)
        else:
            triangles.append(projected)
            rgb = (
                MATERIAL_LOOKS[material][0]
                if material in MATERIAL_LOOKS
                else PART_COLORS[material][:3]
            )
            colours.append(_lit(projected, np.array(rgb)))
    body_triangles, shadow_triangles = np.concatenate(triangles), np.concatenate(shadows)
    lower_corner = np.minimum(
        body_triangles[..., :2].min(axis=(0, 1)), shadow_triangles[..., :2].min(axis=(0, 1))
    )
    size = (
        np.maximum(
            body_triangles[..., :2].max(axis=(0, 1)), shadow_triangles[..., :2].max(axis=(0, 1))
        )
        - lower_corner
    )
    scale = PIXEL_SAMPLES * PICTURE_SIZE / size.max()
    width, height = (
        int(np.ceil(scale * extent / PIXEL_SAMPLES)) * PIXEL_SAMPLES for extent in size
    )
    for triangles_of_material in (body_triangles, shadow_triangles):
        triangles_of_material[..., :2] = scale * (triangles_of_material[..., :2] - lower_corner)
    return _png(
        _smooth(_drawn(body_triangles, np.concatenate(colours), shadow_triangles, width, height))
    )


def _project(points: FloatArray) -> FloatArray:
    """Return points `(m, 3)` of the base frame in view axes: right, down, towards the viewer."""
    right_axis = [-np.sin(VIEW_AZIMUTH), np.cos(VIEW_AZIMUTH), 0.0]
    viewer_axis = [
        np.cos(VIEW_ELEVATION) * np.cos(VIEW_AZIMUTH),
        np.cos(VIEW_ELEVATION) * np.sin(VIEW_AZIMUTH),
        np.sin(VIEW_ELEVATION),
    ]
    return np.asarray(
        points @ np.stack([right_axis, -np.cross(viewer_axis, right_axis), viewer_axis], axis=1)
    )


def _lit(triangles: FloatArray, colour: FloatArray) -> FloatArray:
    """Return the colours `(f, 3)` of triangles `(f, 3, 3)` of one material under the lamp."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal *= np.where(normal[:, 2:] < 0.0, -1.0, 1.0)
    length = np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
    direct = np.maximum(normal @ LIGHT_DIRECTION / length, 0.0)
    return np.asarray((AMBIENT_FRACTION + (1.0 - AMBIENT_FRACTION) * direct)[:, None] * colour)


def _drawn(
    bodies: FloatArray, colours: FloatArray, shadow: FloatArray, width: int, height: int
) -> FloatArray:
    """Return red, green, blue and opacity `(height, width, 4)`; triangles `(f, 3, 3)` in pixels."""
    nearest_depth = np.full(width * height, -np.inf)
    face_of_pixel = np.full(width * height, -1)
    for face, pixel, depth in _covered(bodies, width, height):
        np.maximum.at(nearest_depth, pixel, depth)
        is_nearest = depth >= nearest_depth[pixel]
        face_of_pixel[pixel[is_nearest]] = face[is_nearest]
    layers = np.zeros(width * height)
    for _, pixel, depth in _covered(shadow, width, height):
        np.add.at(
            layers, pixel[depth > nearest_depth[pixel]], 0.5
        )  # each has an upper and a lower face
    dark = 1.0 - (1.0 - SHADOW_OPACITY) ** layers
    covered = (face_of_pixel >= 0).astype(float)
    image = np.empty((width * height, 4))
    image[:, 3] = np.maximum(covered, dark)
    image[:, :3] = (covered * (1.0 - dark))[:, None] * colours[face_of_pixel]
    image[:, :3] += dark[:, None] * np.array(MATERIAL_LOOKS[SHADOW_MATERIAL][0])
    return image.reshape(height, width, 4)


def _covered(triangles: FloatArray, width: int, height: int) -> Iterator[Samples]:
    """Yield the samples of triangles `(f, 3, 3)`, row by row what lies between their edges."""
    for start in range(0, len(triangles), TRIANGLES_PER_BLOCK):
        block = triangles[start : start + TRIANGLES_PER_BLOCK]
        first_row = np.ceil(block[..., 1].min(axis=1) - 0.5).astype(int)
        last_row = np.floor(block[..., 1].max(axis=1) - 0.5).astype(int)
        face, row = _expanded(first_row, last_row)
        edge_starts, edge_ends = block[face], np.roll(block, -1, axis=1)[face]
        row_center = row[:, None] + 0.5
        crossed = (edge_starts[..., 1] <= row_center) != (edge_ends[..., 1] <= row_center)
        with np.errstate(divide="ignore", invalid="ignore"):
            fraction = (row_center - edge_starts[..., 1]) / (
                edge_ends[..., 1] - edge_starts[..., 1]
            )
            crossing_column = edge_starts[..., 0] + fraction * (
                edge_ends[..., 0] - edge_starts[..., 0]
            )
        first_column = np.ceil(np.where(crossed, crossing_column, np.inf).min(axis=1) - 0.5)
        last_column = np.floor(np.where(crossed, crossing_column, -np.inf).max(axis=1) - 0.5)
        is_covered = np.isfinite(first_column) & (row >= 0) & (row < height)
        first_column, last_column = (
            np.maximum(first_column[is_covered], 0.0),
            np.minimum(last_column[is_covered], width - 1.0),
        )
        row_of_pixel, column = _expanded(first_column.astype(int), last_column.astype(int))
        face, row = face[is_covered][row_of_pixel], row[is_covered][row_of_pixel]
        (x, y, z), u, v = block[face, 0].T, *np.moveaxis(block[:, 1:] - block[:, :1], 1, 0)
        area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        area[area == 0.0] = np.inf
        first_weight = (u[:, 2] * v[:, 1] - u[:, 1] * v[:, 2])[face] / area[face]
        second_weight = (u[:, 0] * v[:, 2] - u[:, 2] * v[:, 0])[face] / area[face]
        depth = z + first_weight * (column + 0.5 - x) + second_weight * (row + 0.5 - y)
        yield face + start, row * width + column, depth


def _expanded(low: IndexArray, high: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return index and value `(k,)` of all whole numbers from `low` to `high` `(m,)`."""
    counts = np.maximum(high - low + 1, 0)
    index = np.repeat(np.arange(len(low)), counts)
    first_entry = np.repeat(np.cumsum(counts) - counts, counts)
    return index, low[index] + np.arange(len(index)) - first_entry


def _smooth(image: FloatArray) -> NDArray[np.uint8]:
    """Return means of samples as pixels; colours came multiplied by their opacity."""
    height, width = (side // PIXEL_SAMPLES for side in image.shape[:2])
    mean = image.reshape(height, PIXEL_SAMPLES, width, PIXEL_SAMPLES, 4).mean(axis=(1, 3))
    mean[..., :3] /= np.maximum(mean[..., 3:], 1e-6)
    pixels: NDArray[np.uint8] = np.round(255.0 * np.clip(mean, 0.0, 1.0)).astype(np.uint8)
    return pixels


def _png(image: NDArray[np.uint8]) -> bytes:
    """Return pixels `(height, width, 4)` as PNG, each as its difference to the one before it."""
    height, width = image.shape[:2]
    rows = np.ones((height, 1 + 4 * width), dtype=np.uint8)
    rows[:, 1:] = np.diff(image, axis=1, prepend=np.uint8(0)).reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        length_and_checksum = (
            struct.pack(">I", len(data)),
            struct.pack(">I", zlib.crc32(name + data)),
        )
        return length_and_checksum[0] + name + data + length_and_checksum[1]

    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*chunk_data) for chunk_data in chunks)
