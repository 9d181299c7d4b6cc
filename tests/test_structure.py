"""The package's shape: import direction, laziness, names, docstrings, size of files."""

import ast
import importlib
import json
import subprocess
import sys
import tokenize
from graphlib import TopologicalSorter

import pytest
from package_walk import MODULES, ROOT, public, tree

import twin

pytestmark = pytest.mark.quick

ORDER = (
    "assets",
    "errors",
    "basics",
    "rotations",
    "machine",
    "kernels",
    "model",
    "charts",
    "motion",
    "plant",
    "control",
    "engines",
    "simulation",
    "logs",
    "analysis",
    "design",
    "papers",
    "identification",
    "calibration",
    "link",
    "shadow",
    "viewer",
    "envs",
    "training",
    "datasets",
    "sweep",
    "page",
    "validation",
    "cli",
    "__main__",
)
"""Layers of the package; an import may only go to the same one or to one further up."""

ONLY_FOR_PAPERS = ("papers", "validation", "cli")
"""Layers that may use reproductions of the publications."""

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
    "pandas",
    "pyarrow",
    "mcap",
    "rosbags",
    "asyncua",
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

LARGEST_FILE = 500
"""Lines of code: one concept fits."""

LARGEST_FUNCTION = 60
"""Lines without the docstring: a screen."""

IMPORTABLE = [name for name in MODULES if not name.endswith("__main__")]


def layer(module):
    """Return the layer of a module: the first name below `twin`."""
    return module.split(".")[1] if "." in module else ""


def imported(module):
    """Return all modules of the package that a module imports: at the top, late, and for types."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module}: imports are absolute"
            names = {f"{node.module}.{alias.name}": node.module for alias in node.names}
            found |= {name if name in MODULES else parent for name, parent in names.items()}
    return (found & set(MODULES)) - {module}


@pytest.fixture(scope="module")
def graph():
    """Modules and what they import: read when a test needs it, not by who only lists the tests."""
    found = {module: imported(module) for module in MODULES}
    assert sum(map(len, found.values())) > 1000
    return found


def test_imports_point_up(graph):
    for module in filter(layer, MODULES):
        own = layer(module)
        assert own in ORDER, f"{module} is in no layer: add it to ORDER"
        for other in filter(layer, graph[module]):
            assert ORDER.index(layer(other)) <= ORDER.index(own), f"{module} imports {other}"


def test_imports_form_no_circle(graph):
    TopologicalSorter(graph).prepare()


def test_papers_are_used_by_the_validation_alone(graph):
    for module in MODULES:
        if any(layer(other) == "papers" for other in graph[module]):
            assert layer(module) in ONLY_FOR_PAPERS, module


def test_compiled_code_lives_in_kernels(graph):
    compiled = {
        module
        for module in MODULES
        if "twin.kernels.jit" in graph[module]
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and node.module == "twin.kernels.jit"
        if {alias.name for alias in node.names} & {"compiled", "device", "allocating"}
    }
    assert len(compiled) > 30
    for module in compiled:
        assert "kernels" in module.split("."), module


def run(code):
    """Return the output of Python code in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_import_loads_no_heavy_library():
    loaded = json.loads(run("import twin, sys, json; print(json.dumps(list(sys.modules)))"))
    assert "twin" in loaded
    assert not {name.split(".")[0] for name in loaded} & set(HEAVY)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_using_the_reference_loads_no_engine(engine):
    library = {"mujoco": "mujoco", "bullet": "pybullet"}[engine]
    code = "import twin, sys; twin.load('srspm').simulate(0.001); print(sorted(sys.modules))"
    assert f"'{library}'" not in run(code)


def test_public_names_exist():
    for module in IMPORTABLE:
        loaded = importlib.import_module(module)
        assert loaded.__doc__, f"{module} has no docstring"
        for name in getattr(loaded, "__all__", []):
            assert hasattr(loaded, name), f"{module}.__all__ names {name}, which does not exist"


def test_interface_is_complete():
    promised = {"Platform", "Trajectory", "TwinError", "load", "make_engine", "simulate"}
    assert promised | {"machine_names", "__version__"} <= set(twin.__all__)
    assert set(twin.__all__) <= set(dir(twin))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = twin.no_such_name


def test_everything_public_is_documented():
    for module in IMPORTABLE:
        for name, value in public(importlib.import_module(module)):
            assert (getattr(value, "__doc__", None) or "").strip(), f"{module}.{name}"


def test_the_walk_above_sees_methods():
    from twin.model import machine_model

    names = {name for name, _ in public(machine_model)}
    assert {"MachineModel", "MachineModel.forward_dynamics", "as_model"} <= names


def test_every_folder_is_a_package():
    packages = {file.parent for file in MODULES.values() if file.name == "__init__.py"}
    assert {file.parent for file in MODULES.values()} <= packages


def code_lines(file):
    """Return the number of lines that hold code: no blank lines, comments or docstrings."""
    with file.open("rb") as source:
        tokens = list(tokenize.tokenize(source.readline))
    words = (tokenize.NAME, tokenize.NUMBER, tokenize.OP)
    return len({token.start[0] for token in tokens if token.type in words})


def test_files_are_small():
    for module, file in MODULES.items():
        if len(file.read_text(encoding="utf-8").splitlines()) > LARGEST_FILE:
            assert code_lines(file) <= LARGEST_FILE, module


def test_functions_are_short():
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                header = node.body[0].lineno - node.lineno
                lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
                assert header + lines <= LARGEST_FUNCTION, f"{module}: {node.name}"


@pytest.mark.parametrize("name", twin.machine_names())
def test_machines_are_complete(name):
    folder = ROOT / "assets" / name
    for file in ("platform.toml", "robot.xml", "scene.xml", "robot.urdf", "README.md"):
        assert (folder / file).is_file(), f"assets/{name}/{file} is missing"


def test_stated_tolerances_are_not_loosened():
    """`assert_allclose` adds its default of 1e-7 relative to an absolute tolerance."""
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        source = file.read_text()
        for node in ast.walk(ast.parse(source if "atol" in source else "")):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("assert_allclose"):
                given = {keyword.arg for keyword in node.keywords}
                assert "atol" not in given or "rtol" in given, f"{file}:{node.lineno}"
