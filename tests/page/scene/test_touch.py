"""The place on the platform under the pointer."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tolerance import assert_within

from twin.page.scene.scene_view import nearest, touched

pytestmark = pytest.mark.quick

SQUARE = np.array(
    [[[-1, -1, 0], [1, -1, 0], [1, 1, 0]], [[-1, -1, 0], [1, 1, 0], [-1, 1, 0]]], dtype=float
)


def test_ray_meets_the_nearest_triangle():
    layers = np.concatenate([SQUARE, SQUARE - [0.0, 0.0, 0.5]])
    rng = np.random.default_rng(0)
    for x, y in rng.uniform(-2.0, 2.0, (200, 2)):
        found = nearest(layers, np.array([x, y, 3.0]), np.array([0.0, 0.0, -2.0]))
        assert found == (1.5 if max(abs(x), abs(y)) < 1.0 else np.inf)
    # On the diagonal between two triangles, beside one, and behind the ray's start.
    assert nearest(SQUARE, np.array([0.5, 0.5, 1.0]), np.array([0.0, 0.0, -1.0])) == 1.0
    assert nearest(SQUARE, np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])) == np.inf
    assert nearest(SQUARE, np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])) == np.inf


def test_point_is_in_the_platform_frame():
    turn = Rotation.from_euler("zyx", [0.4, 0.2, -0.3]).as_matrix()
    place, shaken = np.array([0.3, -0.2, 0.9]), np.array([0.01, 0.02, 0.03])
    mesh = SimpleNamespace(vertices=SQUARE.reshape(-1, 3), faces=np.arange(6).reshape(2, 3))
    far = SimpleNamespace(vertices=SQUARE.reshape(-1, 3) + 5.0, faces=mesh.faces)
    machine = SimpleNamespace(
        root=SimpleNamespace(position=shaken),
        parts={("platform", "platform"): mesh, ("base", "base"): far},
        body_pose=lambda body: (place, turn),
    )
    point = np.array([0.25, -0.5, 0.0])
    in_world = shaken + place + turn @ point
    along = np.array([0.1, 0.2, -1.0])
    found = touched(machine, in_world - 2.0 * along, along)
    assert found is not None
    assert_within(found, point, 1e-12)
    assert touched(machine, in_world - 2.0 * along, -along) is None
