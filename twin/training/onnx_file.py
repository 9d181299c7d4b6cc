"""Policies as files of ONNX, for computers at a machine that run networks without Python."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np

from twin.basics.files import write_atomically
from twin.basics.optional import optional
from twin.errors import InputError, brief
from twin.training.policy import Policy

ENDING = ".onnx"
OPSET = 17
"""Version of the operators: of 2022, known to all runtimes of today."""

IR_VERSION = 8
"""Version of the file's format that goes with it."""


def write_onnx(policy: Policy, path: str | Path) -> Path:
    """Write a policy as ONNX in single precision; return the file's path.

    The network takes `observation` `(N, o)` and gives `action` `(N, a)` in [-1, 1], both float32,
    for any N. Normalisation and bounds are part of it. The metadata `origin` names all numbers
    with units and scales, as JSON.

    Raises:
        InputError: the ending is not .onnx, or the place cannot be written to.
        MissingDependencyError: the extra `onnx` is not installed.
    """
    if not isinstance(path, (str, Path)) or Path(path).suffix != ENDING:
        raise InputError("path", f"must end in {ENDING}, got {brief(path)}")
    content = _model(policy).SerializeToString()

    def write(file: IO[bytes]) -> None:
        file.write(content)

    return write_atomically(path, write)


def _model(policy: Policy) -> Any:
    """Return the graph: (observation - mean) / scale, bounds, then layer by layer."""
    onnx, helper = optional("onnx"), optional("onnx.helper")
    limit, last = policy.network.limit, len(policy.weights) - 1
    numbers = {"mean": policy.mean, "deviation": policy.scale, "low": -limit, "high": limit}
    nodes = [
        helper.make_node("Sub", ["observation", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["scaled"]),
        helper.make_node("Clip", ["scaled", "low", "high"], ["layer_0"]),
    ]
    activation = {"tanh": "Tanh", "relu": "Relu"}[policy.network.activation]
    for k, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        numbers |= {f"weight_{k}": weight, f"bias_{k}": bias}
        inputs = [f"layer_{k}", f"weight_{k}", f"bias_{k}"]
        nodes.append(helper.make_node("Gemm", inputs, [f"sum_{k}"], transB=1))
        if k < last:
            nodes.append(helper.make_node(activation, [f"sum_{k}"], [f"layer_{k + 1}"]))
    numbers |= {"least": -1.0, "most": 1.0}
    output = "action" if policy.law is None else "correction"
    if policy.network.output == "tanh":
        nodes.append(helper.make_node("Tanh", [f"sum_{last}"], [output]))
    else:
        nodes.append(helper.make_node("Clip", [f"sum_{last}", "least", "most"], [output]))
    if policy.law is not None:
        numbers |= {"gains": policy.law.gains.T, "share": policy.law.share}
        nodes += [
            helper.make_node("MatMul", ["observation", "gains"], ["law"]),
            helper.make_node("Mul", ["correction", "share"], ["corrected"]),
            helper.make_node("Add", ["law", "corrected"], ["total"]),
            helper.make_node("Clip", ["total", "least", "most"], ["action"]),
        ]
    places = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", size])
        for name, size in (("observation", policy.mean.size), ("action", policy.biases[-1].size))
    ]
    constants = [
        onnx.numpy_helper.from_array(np.asarray(value, dtype=np.float32), name)
        for name, value in numbers.items()
    ]
    graph = helper.make_graph(nodes, "policy", places[:1], places[1:], constants)
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(
        graph, opset_imports=opset, producer_name="platform-twin", ir_version=IR_VERSION
    )
    helper.set_model_props(model, {"origin": policy.origin.model_dump_json()})
    onnx.checker.check_model(model)
    return model
