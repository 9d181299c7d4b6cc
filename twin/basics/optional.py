"""Libraries: optional ones are imported on first use, with an error that names the install command.

Versions of those that take part in a simulation.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import ModuleType

from twin.errors import MissingDependencyError

EXTRA_COMMAND = 'pip install ".[{}]" in the project\'s folder'
"""The command installs an extra from the source, as the package is in no index."""

TRAINING_COMMAND = f"pip install torch==2.13.0 && {EXTRA_COMMAND.format('rl')}"
"""The command installs PyTorch first, by its version: the extra alone may bring a several times
larger build."""

OPTIONAL_LIBRARIES = {
    "plotly": ("Plotting", EXTRA_COMMAND.format("report")),
    "jinja2": ("The validation report", EXTRA_COMMAND.format("report")),
    "markupsafe": ("The validation report", EXTRA_COMMAND.format("report")),
    "markdown_it": ("The validation report", EXTRA_COMMAND.format("report")),
    "PIL": ("Writing pictures", EXTRA_COMMAND.format("render")),
    "imageio_ffmpeg": ("Writing MP4", EXTRA_COMMAND.format("render")),
    "trimesh": ("A drawing from a file", EXTRA_COMMAND.format("render")),
    "viser": ("The page", EXTRA_COMMAND.format("view")),
    "rich": ("The page", EXTRA_COMMAND.format("view")),
    "sympy": ("Deriving equations of motion", EXTRA_COMMAND.format("symbolic")),
    "control": ("Control design", EXTRA_COMMAND.format("control")),
    "osqp": ("Predictive motion cueing", EXTRA_COMMAND.format("control")),
    "joblib": ("Work in several processes", EXTRA_COMMAND.format("sweep")),
    "pyarrow": ("A sweep", EXTRA_COMMAND.format("sweep")),
    "pandas": ("A data frame", EXTRA_COMMAND.format("tables")),
    "mcap": ("MCAP files", EXTRA_COMMAND.format("logs")),
    "asyncua": ("OPC UA", EXTRA_COMMAND.format("link")),
    "rosbags": ("Bags of ROS", EXTRA_COMMAND.format("logs")),
    "ray": ("A sweep on a cluster", EXTRA_COMMAND.format("cluster")),
    "minari": ("Recording datasets", EXTRA_COMMAND.format("datasets")),
    "h5py": ("Recording datasets", EXTRA_COMMAND.format("datasets")),
    "torch": ("Training", TRAINING_COMMAND),
    "stable_baselines3": ("Training", TRAINING_COMMAND),
    "tensorboard": ("Training", TRAINING_COMMAND),
    "onnx": ("A policy as ONNX", EXTRA_COMMAND.format("onnx")),
    "matplotlib": ("Drawing learning curves", "pip install matplotlib"),
    "numba_cuda": ("A graphics card", EXTRA_COMMAND.format("cuda")),
    "mujoco": ("The MuJoCo engine", "pip install mujoco"),
    "pybullet": ("The PyBullet engine", "pip install pybullet"),
}
"""Library -> use of the library, as the start of a sentence, and the command that installs it."""


def optional(module: str, purpose: str | None = None) -> ModuleType:
    """Return a module of an optional library.

    Args:
        module: dotted name; its first part is one of `OPTIONAL_LIBRARIES`.
        purpose: use of the library; default: that in the table.

    Raises:
        MissingDependencyError: the library is not installed, or fails when it is imported; then
            the message gives the cause.
    """
    library = module.partition(".")[0]
    default_purpose, command = OPTIONAL_LIBRARIES[library]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name == library:
            raise MissingDependencyError(library, purpose or default_purpose, command) from None
        import_fault: Exception = error
    except Exception as error:  # a library for another numpy raises anything
        import_fault = error
    cause = f"{type(import_fault).__name__}: {import_fault}"
    raise MissingDependencyError(
        library, purpose or default_purpose, command, cause
    ) from import_fault


@lru_cache(maxsize=1)
def _installed() -> tuple[tuple[str, str], ...]:
    """Return the versions of the package, of Python and of the libraries it computes with."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    versions = [("platform-twin", version("platform-twin")), ("python", python_version())]
    for library in ("numpy", "scipy", "numba", "mujoco", "pybullet"):
        try:
            versions.append((library, version(library)))
        except PackageNotFoundError:
            continue
    return tuple(versions)


def library_versions() -> dict[str, str]:
    """Return the versions of the package and of the numeric libraries that are installed."""
    return dict(_installed())
