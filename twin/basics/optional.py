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

EXTRAS = {
    "report": {
        "plotly": "Plotting",
        "jinja2": "The validation report",
        "markupsafe": "The validation report",
        "markdown_it": "The validation report",
    },
    "render": {
        "PIL": "Writing pictures",
        "imageio_ffmpeg": "Writing MP4",
        "trimesh": "A drawing from a file",
    },
    "view": {"viser": "The page", "rich": "The page"},
    "symbolic": {"sympy": "Deriving equations of motion"},
    "control": {"control": "Control design", "osqp": "Predictive motion cueing"},
    "sweep": {"joblib": "Work in several processes", "pyarrow": "A sweep"},
    "tables": {"pandas": "A data frame"},
    "logs": {"mcap": "MCAP files", "rosbags": "Bags of ROS"},
    "link": {"asyncua": "OPC UA"},
    "cluster": {"ray": "A sweep on a cluster"},
    "datasets": {"minari": "Recording datasets", "h5py": "Recording datasets"},
    "onnx": {"onnx": "A policy as ONNX"},
    "cuda": {"numba_cuda": "A graphics card"},
}
"""Extra -> its libraries, each with its use as the start of a sentence."""

OPTIONAL_LIBRARIES = {
    library: (purpose, EXTRA_COMMAND.format(extra))
    for extra, purposes in EXTRAS.items()
    for library, purpose in purposes.items()
} | {
    "torch": ("Training", TRAINING_COMMAND),
    "stable_baselines3": ("Training", TRAINING_COMMAND),
    "tensorboard": ("Training", TRAINING_COMMAND),
    "matplotlib": ("Drawing learning curves", "pip install matplotlib"),
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
