"""Drawings from CAD files: seen in every picture, without any influence on what is computed."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.engines.mechanism import make_mechanism
from twin.engines.mjcf import mechanism_xml
from twin.errors import ParameterError, SimulationStoppedError
from twin.viewer.bodies.machine import drawn_mesh
from twin.viewer.scene_model import SceneModel

pytestmark = pytest.mark.quick

MACHINE = 'extends = "stewart"\nsource = "a drawing"\n[appearance]\nmesh = "{}"\n'

BOX = np.array([0.9, 0.7, 0.2])
"""[m] Sides of the drawn box, the lower face of which is in the platform's reference plane."""


def drawn(folder, name, more=""):
    """Return the machine with a box for its platform."""
    box = trimesh.creation.box(BOX)
    box.apply_translation([0.0, 0.0, 0.5 * BOX[2]])
    if name.endswith(".glb"):  # upwards is y there
        box.apply_transform(np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]]))
    if more:
        box.apply_scale(1e3)
    (folder / "cad").mkdir()
    box.export(folder / "cad" / name)
    file = folder / "mine.toml"
    file.write_text(MACHINE.format(f"cad/{name}") + more)
    return twin.load(file)


@pytest.mark.parametrize(
    ("name", "more"), [("box.stl", ""), ("box.STL", 'unit = "1 mm"\n'), ("box.glb", "")]
)
def test_mesh_takes_the_place_of_the_plate(tmp_path, name, more):
    platform = drawn(tmp_path, name, more)
    look = platform.parameters.appearance
    assert look is not None
    bounds = [[-0.45, -0.35, 0.0], [0.45, 0.35, 0.2]]
    mesh = drawn_mesh(look).vertices
    assert_within([mesh.min(axis=0), mesh.max(axis=0)], bounds, 1e-6)
    scene = SceneModel(platform, ghost=True)
    on_platform = np.flatnonzero(scene.model.geom_bodyid == scene.model.body("platform").id)
    assert {scene.model.geom(k).name for k in on_platform} == {
        "platform_platform",
        "platform_joint",
    }
    geom = scene.model.geom("platform_platform")
    assert_within(scene.corners()[:, 2].max(), platform.home[2] + 0.2, 1e-6)
    assert not (geom.contype[0] or geom.conaffinity[0])


def test_nothing_that_is_computed_depends_on_it(tmp_path):
    platform = drawn(tmp_path, "box.stl")
    (tmp_path / "plain.toml").write_text(MACHINE.partition("[appearance]")[0])
    plain = twin.load(tmp_path / "plain.toml")
    assert platform.hash == plain.hash
    models = [mechanism_xml(make_mechanism(each.parameters), 1e-4) for each in (platform, plain)]
    assert models[0] == models[1]


def test_a_dump_holds_no_place_of_a_file(tmp_path):
    platform = drawn(tmp_path, "box.stl")
    engine = twin.make_engine("analytic", platform)
    engine.reset()
    with pytest.raises(SimulationStoppedError) as caught:
        for _ in range(100):
            engine.step(np.full(6, 1e300))
    dump = Path(caught.value.data["dump"])
    text = str(np.load(dump)["parameters"])
    dump.unlink()
    assert "97.0" in text
    assert "box.stl" not in text and str(tmp_path) not in text


def test_files_that_are_none_are_refused(subtests, tmp_path):
    for mesh, message in [
        ("none.stl", "no file none.stl"),
        ("../mine.stl", "in the folder of this file"),
        ("/etc/passwd", r"must end in \.glb or \.stl"),
        ("mine.toml", r"must end in \.glb or \.stl"),
        ("", "must be the name of a file"),
        ("x" * 5000 + ".stl", "cannot use"),
    ]:
        with subtests.test(f"{mesh}"):
            file = tmp_path / "mine.toml"
            file.write_text(MACHINE.format(mesh))
            with pytest.raises(ParameterError, match=message) as caught:
                twin.load(file)
            assert "appearance.mesh" in str(caught.value)


@pytest.mark.parametrize("name", ["text.stl", "text.glb"])
def test_files_that_cannot_be_drawn_are_refused(tmp_path, name):
    (tmp_path / name).write_text("no mesh at all")
    (tmp_path / "mine.toml").write_text(MACHINE.format(name))
    platform = twin.load(tmp_path / "mine.toml")
    with refused(r"appearance\.mesh"):
        SceneModel(platform)


CUBE = np.array(trimesh.creation.box(BOX).triangles)
"""Triangles `(12, 3, 3)` [m]."""


def exported(folder, triangles, unit):
    """Return a machine whose drawing is an STL file of triangles `(k, 3, 3)`."""
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *each.ravel(), 0) for each in triangles)
    (folder / "a.stl").write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + rows)
    file = folder / "mine.toml"
    file.write_text(MACHINE.format("a.stl") + f'unit = "{unit}"\n')
    return twin.load(file)


def test_what_has_no_size_names_its_field(tmp_path):
    assert_all_refused(
        lambda triangles, unit: SceneModel(exported(tmp_path, triangles, unit)),
        [
            (CUBE[:1].repeat(8, axis=0), "1 m", r"appearance\.mesh: "),
            (CUBE * [1.0, 0.0, 0.0], "1 m", r"appearance\.mesh: "),
            (CUBE * 0.0, "1 m", r"appearance\.unit: "),
            (CUBE, "1e-9 m", r"appearance\.unit: "),
            (CUBE, "1e9 m", r"appearance\.unit: "),
        ],
    )


def test_a_triangle_that_is_there_twice_is_drawn(tmp_path):
    platform = exported(tmp_path, np.concatenate([CUBE, CUBE[:1]]), "1 m")
    assert SceneModel(platform).corners()[:, 2].max() > platform.home[2]


@pytest.mark.parametrize("index", [8, 10**6, 2**32 - 5])
def test_vertices_that_do_not_exist_are_named(tmp_path, index):
    drawn(tmp_path, "box.glb")
    file = tmp_path / "cad" / "box.glb"
    content = bytearray(file.read_bytes())
    length = struct.unpack("<I", content[12:16])[0]
    document = json.loads(content[20 : 20 + length])
    number = document["meshes"][0]["primitives"][0]["indices"]
    view = document["bufferViews"][document["accessors"][number]["bufferView"]]
    place = 28 + length + view.get("byteOffset", 0)
    assert document["accessors"][number]["componentType"] == 5125
    content[place : place + 4] = struct.pack("<I", index)
    file.write_bytes(content)
    with refused(rf"appearance\.mesh: .* vertex {index} of 8"):
        SceneModel(twin.load(tmp_path / "mine.toml"))
