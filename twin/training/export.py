"""Makes a policy that needs no PyTorch from a model of Stable-Baselines3."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.files import write_atomically
from twin.basics.optional import optional
from twin.errors import InputError, brief
from twin.training.policy import Policy, PolicyNetwork, PolicyOrigin, Residual

ONNX_ENDING = ".onnx"

OPSET_VERSION = 17
"""Version of the ONNX operators: of 2022, supported by all present runtimes."""

IR_VERSION = 8
"""Version of the ONNX file format that belongs to these operators."""


def write_onnx(policy: Policy, path: str | Path) -> Path:
    """Write a policy as ONNX in single precision; return the file's path.

    The network takes `observation` `(N, o)` and gives `action` `(N, a)` in [-1, 1], both float32,
    for any N. Normalisation and bounds are part of it. The metadata `origin` names all numbers
    with units and scales, as JSON.

    Raises:
        InputError: the ending is not .onnx, or the place cannot be written to.
        MissingDependencyError: the extra `onnx` is not installed.
    """
    if not isinstance(path, (str, Path)) or Path(path).suffix != ONNX_ENDING:
        raise InputError("path", f"must end in {ONNX_ENDING}, got {brief(path)}")
    content = _model(policy).SerializeToString()

    def write(file: IO[bytes]) -> None:
        file.write(content)

    return write_atomically(path, write)


def _model(policy: Policy) -> Any:
    """Return the graph: (observation - mean) / scale, bounds, then layer by layer."""
    onnx, helper = optional("onnx"), optional("onnx.helper")
    limit, last_layer = policy.network.limit, len(policy.weights) - 1
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
        if k < last_layer:
            nodes.append(helper.make_node(activation, [f"sum_{k}"], [f"layer_{k + 1}"]))
    numbers |= {"least": -1.0, "most": 1.0}
    output = "action" if policy.law is None else "correction"
    if policy.network.output == "tanh":
        nodes.append(helper.make_node("Tanh", [f"sum_{last_layer}"], [output]))
    else:
        nodes.append(helper.make_node("Clip", [f"sum_{last_layer}", "least", "most"], [output]))
    if policy.law is not None:
        numbers |= {"gains": policy.law.gains.T, "share": policy.law.share}
        nodes += [
            helper.make_node("MatMul", ["observation", "gains"], ["law"]),
            helper.make_node("Mul", ["correction", "share"], ["corrected"]),
            helper.make_node("Add", ["law", "corrected"], ["total"]),
            helper.make_node("Clip", ["total", "least", "most"], ["action"]),
        ]
    value_infos = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", size])
        for name, size in (("observation", policy.mean.size), ("action", policy.biases[-1].size))
    ]
    constants = [
        onnx.numpy_helper.from_array(np.asarray(value, dtype=np.float32), name)
        for name, value in numbers.items()
    ]
    graph = helper.make_graph(nodes, "policy", value_infos[:1], value_infos[1:], constants)
    opset = [helper.make_opsetid("", OPSET_VERSION)]
    model = helper.make_model(
        graph, opset_imports=opset, producer_name="platform-twin", ir_version=IR_VERSION
    )
    helper.set_model_props(model, {"origin": policy.origin.model_dump_json()})
    onnx.checker.check_model(model)
    return model


def export_policy(
    model: Any, origin: PolicyOrigin, normaliser: Any = None, law: Residual | None = None
) -> Policy:
    """Return the deterministic policy of a trained model.

    Args:
        model: PPO or SAC of Stable-Baselines3 with a multilayer perceptron.
        origin: origin of the policy.
        normaliser: the `VecNormalize` it was trained behind, if any.
        law: law that the model corrects; None where its actions are the environment's.

    Raises:
        InputError: a model of another kind, or actions that are not from -1 to 1.
    """
    space = model.action_space
    if getattr(space, "low", None) is None or not (
        (space.low == -1.0).all() and (space.high == 1.0).all()
    ):
        raise InputError("model", "must have actions from -1 to 1")
    actor = getattr(model.policy, "actor", None)
    if actor is not None and hasattr(actor, "latent_pi"):
        layers, output_layer, output = actor.latent_pi, actor.mu, "tanh"
    elif hasattr(model.policy, "action_net"):
        layers = model.policy.mlp_extractor.policy_net
        output_layer, output = model.policy.action_net, "clip"
    else:
        raise InputError("model", "must be a PPO or SAC model with a multilayer perceptron")
    linear_layers = [layer for layer in layers if hasattr(layer, "weight")] + [output_layer]
    activations = {type(layer).__name__.lower() for layer in layers if not hasattr(layer, "weight")}
    if not activations <= {"tanh", "relu"} or len(activations) > 1:
        raise InputError("model", f"must have tanh or relu between its layers, not {activations}")
    mean, scale, limit = _normalisation(normaliser, model.observation_space.shape[0])
    network = {
        "activation": activations.pop() if activations else "tanh",
        "output": output,
        "limit": limit,
    }
    if law is not None:
        network["correction"] = law.share
    return Policy(
        tuple(_numbers(layer.weight) for layer in linear_layers),
        tuple(_numbers(layer.bias) for layer in linear_layers),
        mean,
        scale,
        PolicyNetwork.model_validate(network),
        origin,
        None if law is None else law.gains,
    )


def _normalisation(normaliser: Any, size: int) -> tuple[FloatArray, FloatArray, float]:
    if normaliser is None or not normaliser.norm_obs:
        return np.zeros(size), np.ones(size), 1e6
    statistics = normaliser.obs_rms
    scale = np.sqrt(statistics.var + normaliser.epsilon)
    return np.array(statistics.mean), scale, float(normaliser.clip_obs)


def _numbers(parameter: Any) -> FloatArray:
    return np.asarray(parameter.detach().cpu().numpy(), dtype=np.float64)
