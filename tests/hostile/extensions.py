"""Machine files that extend others, and their drawings: chains, circles, tables in odd places."""

from __future__ import annotations

import json
import struct
import tempfile
import tomllib
from pathlib import Path

import numpy as np

import twin
from hostile.files import NUMBERS, TEXTS, mutated, written
from twin.machine.file.read import MAX_EXTENDS_DEPTH
from twin.shadow import read_thresholds
from twin.viewer.scene_model import SceneModel

BASES = ("stewart", "rss", "pi_h824", "srspm", "base.toml")
"""What a file may extend."""

NO_BASES = ("mine.toml", "nothing", "..", "", "x" * 5000, 3)
"""What it cannot extend."""

TABLES = tomllib.loads("""
leg = {"3" = {drive = {delay = 1e-3}}, actuator = {speed = 0.3}}
variant = [{legs = [2], source = "x", actuator = {force = 900.0}}]
configuration = {hardware = {leg = {drive = {delay = 2e-3}}}}
platform = {body = {mass = 80.0}}
identified = {date = "2026-11-22"}
""")
KEYS = ("leg", "variant", "configuration", "platform", "identified", "appearance", "title", "name")
TITLES = ("plain", "\x1b[31mred", "two\nlines", "\u202eback", "\ufffe", "\x00", "\N{SNOWMAN}" * 400)


def extension_input(random):
    """Return a name and a call that loads a file which extends another, or draws its mesh."""
    kind = random.choices(("tables", "mutated", "chain", "mesh", "thresholds"), (5, 4, 1, 4, 2))[0]
    makers = {"chain": _chain, "mesh": _mesh, "thresholds": _thresholds}
    use = makers.get(kind) or (lambda folder, random: _extended(folder, random, kind))

    def call():
        with tempfile.TemporaryDirectory() as name:
            return use(Path(name), random)

    return f"extension {kind}", call


def _extended(folder, random, kind):
    """Return numbers of a machine whose file extends another one with odd tables."""
    base = random.choice(BASES[:4])
    (folder / "base.toml").write_text(written({"extends": base, "source": "a"}))
    content = {"extends": random.choice(BASES), "source": "b"}
    if random.random() < 0.2:
        content["extends"] = random.choice(NO_BASES)
    for key in random.sample(sorted(TABLES), random.randrange(4)):
        content[key] = TABLES[key]
    if random.random() < 0.15:
        content["title"] = random.choice(TITLES)
    text = written(content)
    if kind == "mutated":
        text = mutated(text, random)
    elif random.random() < 0.4:
        key = random.choice(KEYS)
        values = (*NUMBERS, *TEXTS, [], {}, [[]], [{}], [{"legs": 3}], {"3": {}}, {"9" * 5000: {}})
        text = written(content | {key: random.choice(values)})
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    platform = twin.load(file, random.choice((None, "hardware")))
    return [platform.home, platform.jacobian(platform.home), platform.home_coordinates]


def _chain(folder, random):
    """Return the home pose of a machine at the end of a chain, which may be a circle."""
    count = random.randrange(1, 2 * MAX_EXTENDS_DEPTH)
    first = random.choice(("stewart", f"file_{count - 1}.toml"))
    for k in range(count):
        base = f"file_{k - 1}.toml" if k else first
        (folder / f"file_{k}.toml").write_text(written({"extends": base, "source": "x"}))
    return twin.load(folder / f"file_{count - 1}.toml").home


def _mesh(folder, random):
    """Return the corners of a scene in which a mesh with faults is drawn."""
    count = random.choice((0, 1, 3, 4, 5, 8, 40))
    corners = np.random.default_rng(random.randrange(100)).normal(size=(count, 3, 3))
    change = random.choice(("none", "one", "line", "point", "plane", "large", "nan", "small"))
    if change == "one":
        corners[:] = corners[:1]
    elif change in ("line", "point", "plane"):
        corners[..., {"line": 1, "point": 0, "plane": 2}[change] :] = 0.0
    else:
        corners *= {"large": 1e30, "nan": np.nan, "small": 1e-12}.get(change, 1.0)
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *each.ravel(), 0) for each in corners)
    stl = bytes(80) + struct.pack("<I", random.choice((count, count, 0, 10**9))) + triangles
    name = random.choice(("cad.stl", "cad.glb"))
    (folder / name).write_bytes(stl if name == "cad.stl" else _glb(corners, random))
    unit = random.choice(("1 m",) * 4 + ("1 mm", "1e-9 m", "1 km", "0 m", "1e30 m"))
    look = {"mesh": random.choice((name,) * 9 + ("x" * 5000,)), "unit": unit, "source": "x"}
    file = folder / "mine.toml"
    file.write_text(written({"extends": "stewart", "source": "x", "appearance": look}))
    return SceneModel(twin.load(file)).corners()


def _glb(corners, random):
    """Return a binary glTF file of triangles, whose indices may be those of none."""
    indices = np.arange(corners.size // 3, dtype=np.uint32)
    if len(indices):
        indices[random.randrange(len(indices))] ^= random.choice((0, 0, 1, 10**6, 2**32 - 100))
    data = corners.astype(np.float32).tobytes() + indices.tobytes()
    split = corners.size * 4
    content = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": split},
            {"buffer": 0, "byteOffset": split, "byteLength": len(data) - split},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": corners.size // 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": len(indices), "type": "SCALAR"},
        ],
    }
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _thresholds(folder, random):
    """Return the thresholds of a file with faults."""
    fields = ("friction", "backlash", "payload", "force", "jump")
    content = dict.fromkeys(fields, 1.5)
    file = folder / "thresholds.toml"
    file.write_text(mutated(written(content), random), encoding="utf-8", errors="surrogatepass")
    place = random.choice((file, file, file, folder, folder / ("x" * 5000)))
    return tuple(value for value in read_thresholds(place) if value < np.inf)
