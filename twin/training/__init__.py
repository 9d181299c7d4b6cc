"""Training, policies and their evaluation on the package's environments.

Training by gradients needs the extra `rl`; policies are small files of numbers, for numpy alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twin.training.evaluation import Evaluation, evaluate
    from twin.training.policy import Policy, export_policy, load_policy, policy_names, write_onnx
    from twin.training.run import Training, train

__all__ = [
    "Evaluation",
    "Policy",
    "Training",
    "evaluate",
    "export_policy",
    "load_policy",
    "policy_names",
    "train",
    "write_onnx",
]

_MODULES = {
    "Evaluation": "evaluation",
    "evaluate": "evaluation",
    "export_policy": "policy",
    "Policy": "policy",
    "Training": "run",
    "train": "run",
    "load_policy": "policy",
    "policy_names": "policy",
    "write_onnx": "policy",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"twin.training.{_MODULES[name]}"), name)
