"""Triangles of shapes: closed, seen from outside, as large as the shape."""

import numpy as np
import pytest
from conftest import MACHINES
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from shared_joints import LAYOUTS, machine_with_shared_joints

import twin
from twin.viewer.bodies.meshes import Mesh, cylinder, geom_mesh, quarters, sphere
from twin.viewer.scene_model import SceneModel


def volume(mesh):
    """Return the volume [m3] that triangles enclose, positive if they face outwards."""
    first, second, third = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return float(np.einsum("fi,fi->", first, np.cross(second, third)) / 6.0)


def is_closed(mesh, doubled=False):
    """Return whether every edge is passed once in each direction, vertices in one place as one.

    Shapes that are `doubled`, in one place, pass it as often in both directions.
    """
    grid = np.rint(mesh.vertices * 1e8).astype(np.int64)
    _, places = np.unique(grid @ [1, 1_000_003, 998_244_353], return_inverse=True)
    starts = places.ravel()[mesh.faces]
    ends, count = np.roll(starts, -1, axis=1), len(mesh.vertices)
    forth = np.sort((starts * count + ends).ravel())
    back = np.sort((ends * count + starts).ravel())
    return bool(np.array_equal(forth, back) and (doubled or (np.diff(forth) > 0).all()))


def test_round_shapes_are_nearly_as_large_as_they_are():
    """A polygon of 48 corners lies inside its circle by 0.3 %, bevels take a little more."""
    for mesh, exact in (
        (sphere(0.3), 4.0 / 3.0 * np.pi * 0.3**3),
        (cylinder(0.1, 0.4), np.pi * 0.1**2 * 0.8),
    ):
        assert is_closed(mesh)
        assert 0.98 * exact < volume(mesh) < exact


def test_quarters_are_two_halves():
    whole = sphere(0.1)
    light, dark = quarters(whole)
    assert len(light.faces) == len(dark.faces) == len(whole.faces) / 2
    assert is_closed(Mesh(whole.vertices, np.concatenate([light.faces, dark.faces])))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MACHINES, *LAYOUTS])
def test_every_geom_is_as_large_as_mujoco_has_it(name):
    """In the frame of its body, within the box that MuJoCo keeps around it."""
    platform = machine_with_shared_joints(name) if name in LAYOUTS else twin.load(name)
    model = SceneModel(platform, ghost=True).model
    drawn = [k for k in range(model.ngeom) if model.geom(k).name != "floor"]
    assert len(drawn) > 10
    for k in drawn:
        mesh = geom_mesh(model, k)
        assert is_closed(mesh, doubled=name in LAYOUTS)
        assert volume(mesh) > 0.0
        turn = Rotation.from_quat(model.geom_quat[k], scalar_first=True)
        own = turn.inv().apply(mesh.vertices - model.geom_pos[k]) - model.geom_aabb[k, :3]
        largest = np.abs(own).max(axis=0)
        assert_allclose(largest, model.geom_aabb[k, 3:], rtol=1e-5, atol=1e-7)
