"""Small pictures of machines: exact areas, near before far, bodies with their hollows."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import trimesh
from conftest import MACHINES
from PIL import Image

import twin
from twin.viewer import home_picture as drawing

pytestmark = pytest.mark.quick

WIDTH, HEIGHT = 60, 40

BLUE, WHITE = "housing", "platform"


def pixels(picture: bytes) -> np.ndarray:
    """Return red, green, blue and opacity `(height, width, 4)`."""
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGBA")).astype(int)


def test_triangles_cover_the_pixels_whose_middles_they_hold() -> None:
    random = np.random.default_rng(1)
    triangles = random.uniform(-5.0, 45.0, size=(20, 3, 3))
    x, y = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    for triangle in triangles:
        ((face, pixel, near),) = drawing._covered(triangle[None], WIDTH, HEIGHT)
        assert not face.any()
        matrix = np.vstack([triangle.T, np.ones(3)])
        shares = np.linalg.solve(
            matrix[[0, 1, 3]], np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
        )
        inside = np.flatnonzero((shares >= 0.0).all(axis=0))
        np.testing.assert_array_equal(np.sort(pixel), inside)
        np.testing.assert_allclose(near, triangle[:, 2] @ shares[:, pixel], rtol=0, atol=1e-9)


def test_what_is_nearer_hides_what_is_behind() -> None:
    square = np.array([[[0, 0, 0], [40, 0, 0], [0, 40, 0]], [[40, 40, 0], [40, 0, 0], [0, 40, 0]]])
    near, far = square + np.array([5.0, 0.0, 1.0]), square.astype(float)
    colours = np.repeat(np.eye(3)[:2], 2, axis=0)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        bodies = np.concatenate([near, far])[order]
        image = drawing._drawn(bodies, colours[order], square[:1] - 100.0, WIDTH, HEIGHT)
        np.testing.assert_array_equal(image[20, 20], [1.0, 0.0, 0.0, 1.0])
        np.testing.assert_array_equal(image[20, 2], [0.0, 1.0, 0.0, 1.0])
        assert not image[20, 50:].any()


@pytest.mark.parametrize("name", MACHINES)
def test_machines_fill_their_pictures(name: str) -> None:
    seen = pixels(drawing.home_picture(twin.load(name)))
    assert max(seen.shape[:2]) == drawing.PICTURE_SIZE
    opaque = seen[..., 3] > 250
    assert 0.15 < opaque.mean() < 0.8
    red, _, blue = np.moveaxis(seen[..., :3], -1, 0)
    painted = opaque & (blue > red + 40)
    accented = opaque & (red > blue + 80)
    assert painted.mean() > 0.005 and accented.mean() > 0.001


def test_hollows_are_seen(tmp_path: Path) -> None:
    bars = [
        trimesh.creation.box(
            size, transform=trimesh.transformations.translation_matrix([*place, 0.05])
        )
        for size, place in (
            ((0.9, 0.1, 0.1), (0.0, 0.4)),
            ((0.9, 0.1, 0.1), (0.0, -0.4)),
            ((0.1, 0.9, 0.1), (0.4, 0.0)),
            ((0.1, 0.9, 0.1), (-0.4, 0.0)),
        )
    ]
    shapes = {"frame": bars, "plate": [trimesh.creation.box((0.9, 0.9, 0.1))]}
    white = {}
    for name, parts in shapes.items():
        trimesh.util.concatenate(parts).export(tmp_path / f"{name}.stl")
        file = tmp_path / f"{name}.toml"
        file.write_text(
            f'extends = "stewart"\nsource = "a drawing"\n[appearance]\nmesh = "{name}.stl"\n'
        )
        seen = pixels(drawing.home_picture(twin.load(file)))
        white[name] = (seen[..., :3].min(axis=-1) > 180) & (seen[..., 3] > 250)
    assert white["frame"].sum() < 0.7 * white["plate"].sum()
