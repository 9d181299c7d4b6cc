"""The package's shape: import direction, laziness, names, docstrings, size of files."""

from __future__ import annotations

import ast
import importlib
import io
import json
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from package_walk import MODULES, ROOT, public

import twin

ORDER = (
    "assets",
    "errors",
    "arrays",
    "files",
    "progress",
    "rotations",
    "parameters",
    "randomisation",
    "payload",
    "catalogue",
    "compiled",
    "kinematics",
    "dynamics",
    "ball",
    "evaluation",
    "kinematic_platform",
    "platform",
    "motion",
    "plant",
    "control",
    "engines",
    "trajectory",
    "simulation",
    "fleet",
    "viewer",
    "analysis",
    "policies",
    "envs",
    "training",
    "datasets",
    "sweep",
    "facts",
    "session",
    "browser",
    "benchmark",
    "console",
    "commands",
    "cli",
    "__main__",
    "validation",
)
"""Layers of the package; an import may only go to the same one or to one further up."""

LATE = {
    ("catalogue", "platform"): "load() returns the object everything else is built on",
    ("dynamics", "platform"): "integrate() checks what it is given",
    ("platform", "simulation"): "Platform.simulate()",
    ("trajectory", "viewer"): "Trajectory.plot()",
    ("commands", "validation"): "the command `validate`",
}
"""Imports inside functions that point down, each with its reason."""

HEAVY = (
    "numba",
    "scipy",
    "sympy",
    "mujoco",
    "pybullet",
    "plotly",
    "control",
    "osqp",
    "pydantic",
    "gymnasium",
    "joblib",
    "minari",
    "pyarrow",
    "ray",
    "stable_baselines3",
    "torch",
    "viser",
    "imageio_ffmpeg",
    "PIL",
    "rich",
    "typer",
)
"""Libraries that `import twin` must not load: each costs more than the package itself."""

LARGEST_FILE = 200
"""Lines of code: one concept fits."""

LARGEST_FUNCTION = 60
"""Lines without the docstring: a screen."""

pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())


def layer(module: str) -> str:
    """Return the layer of a module: the first name below `twin`."""
    return module.split(".")[1] if "." in module else ""


def imports(body: list[ast.stmt], inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the modules of the package that statements import, and whether inside a function."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((name if name in MODULES else node.module, inside) for name in names)
        else:
            function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            for field in ("body", "orelse", "finalbody"):
                yield from imports(getattr(node, field, []), inside or function)
            for handler in getattr(node, "handlers", []):
                yield from imports(handler.body, inside)


def package_imports(module: str) -> list[tuple[str, bool]]:
    """Return the layers a module imports from, and whether inside a function."""
    tree = ast.parse(MODULES[module].read_text())
    found = [(name, late) for name, late in imports(tree.body) if name.split(".")[0] == "twin"]
    return [(layer(name), late) for name, late in found if layer(name)]


@pytest.mark.parametrize("module", [name for name in MODULES if layer(name)])
def test_imports_point_up(module: str) -> None:
    own = layer(module)
    assert own in ORDER, f"{module} is in no layer: add it to ORDER"
    for other, late in package_imports(module):
        if ORDER.index(other) > ORDER.index(own):
            assert late, f"{module} imports {other}, which lies further down"
            assert (own, other) in LATE, f"{module} imports {other} in a function: no reason given"


def test_every_exception_is_needed() -> None:
    used = {(layer(module), other) for module in MODULES for other, _ in package_imports(module)}
    assert set(LATE) <= used


def run(code: str) -> str:
    """Return the output of Python code in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_import_loads_no_heavy_library() -> None:
    loaded = json.loads(run("import twin, sys, json; print(json.dumps(list(sys.modules)))"))
    assert "twin" in loaded
    assert not {name.split(".")[0] for name in loaded} & set(HEAVY)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_using_the_reference_loads_no_engine(engine: str) -> None:
    library = {"mujoco": "mujoco", "bullet": "pybullet"}[engine]
    code = "import twin, sys; twin.load('srspm').simulate(0.001); print(sorted(sys.modules))"
    assert f"'{library}'" not in run(code)


@pytest.mark.parametrize("module", MODULES)
def test_public_names_exist(module: str) -> None:
    if module.endswith("__main__"):
        return
    loaded = importlib.import_module(module)
    assert loaded.__doc__, f"{module} has no docstring"
    for name in getattr(loaded, "__all__", []):
        assert hasattr(loaded, name), f"{module}.__all__ names {name}, which does not exist"


def test_interface_is_complete() -> None:
    promised = {"Platform", "Trajectory", "TwinError", "load", "make_engine", "simulate"}
    assert promised | {"machine_names", "__version__"} <= set(twin.__all__)
    assert set(twin.__all__) <= set(dir(twin))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = twin.no_such_name  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_is_documented(module: str) -> None:
    if module.endswith("__main__"):
        return
    missing = [
        name
        for name, value in public(importlib.import_module(module))
        if not (getattr(value, "__doc__", None) or "").strip()
    ]
    assert not missing


def test_the_walk_above_sees_methods() -> None:
    from twin import platform

    names = {name for name, _ in public(platform)}
    assert {"Platform", "Platform.forward_dynamics", "as_platform"} <= names


def test_packages_are_those_on_disk() -> None:
    settings = pyproject["tool"]["setuptools"]
    packages = {name for name, file in MODULES.items() if file.name == "__init__.py"}
    assert set(settings["packages"]) == packages
    for name, folder in settings["package-dir"].items():
        assert (ROOT / folder / "__init__.py").is_file(), name
        assert MODULES[name] == ROOT / folder / "__init__.py"


def code_lines(file: Path) -> int:
    """Return the number of lines that hold code: no blank lines, comments or docstrings."""
    source = file.read_text()
    texts = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    skipped = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ENCODING,
    }
    lines = {
        line
        for token in tokenize.tokenize(io.BytesIO(source.encode()).readline)
        if token.type not in skipped
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - texts)


@pytest.mark.parametrize("module", MODULES)
def test_files_are_small(module: str) -> None:
    assert code_lines(MODULES[module]) <= LARGEST_FILE


@pytest.mark.parametrize("module", MODULES)
def test_functions_are_short(module: str) -> None:
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            header = node.body[0].lineno - node.lineno
            lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert header + lines <= LARGEST_FUNCTION, f"{module}: {node.name}"


def test_names_say_something() -> None:
    for module in MODULES:
        for word in ("util", "helper", "misc", "common", "tools"):
            assert word not in module.lower(), f"{module}: name the concept"


@pytest.mark.parametrize("name", twin.machine_names())
def test_machines_are_complete(name: str) -> None:
    folder = ROOT / "assets" / name
    for file in ("platform.toml", "robot.xml", "scene.xml", "robot.urdf", "README.md"):
        assert (folder / file).is_file(), f"assets/{name}/{file} is missing"


def test_stated_tolerances_are_not_loosened() -> None:
    """`assert_allclose` adds its default of 1e-7 relative to an absolute tolerance."""
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("assert_allclose"):
                given = {keyword.arg for keyword in node.keywords}
                assert "atol" not in given or "rtol" in given, f"{file}:{node.lineno}"
