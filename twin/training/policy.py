"""A trained policy: a small network in numpy, its file and origin; shipped ones by name.

A model of Stable-Baselines3 becomes such a policy, which needs no PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from twin.basics.arrays import FloatArray, as_floats, bounded, read_only
from twin.basics.files import as_path, check_writable, read_arrays, write_atomically
from twin.basics.optional import optional
from twin.errors import InputError, brief, listed
from twin.training.settings import Settings, validated

POLICY_ENDING = ".npz"

LARGEST_WIDTH = 65_536
"""Largest number of outputs of a layer of the network."""


@dataclass(frozen=True, eq=False)
class Residual:
    """A linear law that is corrected: action = clip(gains observation + share correction).

    Reference:
        Johannink et al., "Residual reinforcement learning for robot control", ICRA 2019.
    """

    gains: FloatArray
    """`(a, o)` gains of the law, in the spaces of the environment"""
    share: float
    """largest correction, as a fraction of the largest action"""

    def __post_init__(self) -> None:
        """Make the gains read-only and check the numbers.

        Raises:
            InputError: no matrix, or a share outside 0 to 1.
        """
        gains = read_only(as_floats(self.gains, "gains"))
        if gains.ndim != 2:
            raise InputError("gains", f"must be a matrix, not of shape {gains.shape}")
        object.__setattr__(self, "gains", gains)
        object.__setattr__(self, "share", bounded(self.share, "share", 0.0, 1.0))

    def compose(self, observation: Any, correction: Any) -> FloatArray:
        """Return actions `(..., a)` for observations `(..., o)` and corrections `(..., a)`."""
        law = np.asarray(observation, dtype=float) @ self.gains.T
        return np.clip(law + self.share * np.asarray(correction), -1.0, 1.0)


class PolicyChannel(Settings):
    """A channel of an observation or an action, as the policy's file stores it."""

    name: str
    size: Annotated[int, Field(ge=1)]
    unit: str = ""
    scale: float | tuple[float, ...] = 1.0
    """value that corresponds to 1 in the space, in the unit"""


class PolicyOrigin(Settings):
    """Origin of a policy: its environment and its training."""

    format: Literal[1] = 1
    environment: str
    """id of the environment"""
    options: dict[str, Any] = Field(default_factory=dict)
    """options of the environment in the training"""
    observations: tuple[PolicyChannel, ...] = ()
    actions: tuple[PolicyChannel, ...] = ()
    parameters: str = ""
    """digest of the machine's parameters (`Platform.hash`); empty where it is not known"""
    algorithm: str = ""
    steps: Annotated[int, Field(ge=0)] = 0
    seed: int = 0
    command: str = ""
    """command of the training"""
    settings: dict[str, Any] = Field(default_factory=dict)
    """hyperparameters"""
    versions: dict[str, str] = Field(default_factory=dict)


class PolicyNetwork(Settings):
    """Functions between and after the layers of a policy."""

    activation: Literal["tanh", "relu"] = "tanh"
    output: Literal["clip", "tanh"] = "clip"
    """function that limits outputs to [-1, 1]"""
    limit: Annotated[float, Field(gt=0.0)] = 10.0
    """largest normalised observation"""
    correction: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """fraction of the largest action by which the network corrects a law; None without a law"""


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """A network from observations to actions, without exploration.

    action = output(W_k act(... act(W_1 x + b_1) ...) + b_k) with
    x = clip((observation - mean) / scale). Where it was trained on a law, this is the correction
    of the law; see `Residual`.
    """

    weights: tuple[FloatArray, ...]
    """weights of each layer `(out, in)`"""
    biases: tuple[FloatArray, ...]
    """biases of each layer `(out,)`"""
    mean: FloatArray
    """`(o,)` mean that is subtracted from observations"""
    scale: FloatArray
    """`(o,)` divisors of the observations"""
    network: PolicyNetwork
    origin: PolicyOrigin
    gains: FloatArray | None = None
    """`(a, o)` of the law that the network corrects; None without one"""

    def __post_init__(self) -> None:
        """Make the arrays read-only and check that they fit each other."""
        object.__setattr__(self, "mean", read_only(as_floats(self.mean, "mean")))
        width = self.mean.size
        object.__setattr__(self, "scale", read_only(as_floats(self.scale, "scale", width)))
        if self.mean.ndim != 1 or self.scale.shape != self.mean.shape or (self.scale <= 0.0).any():
            raise InputError("scale", "must be vectors like mean, with numbers above zero")
        if not self.weights or len(self.weights) != len(self.biases):
            raise InputError("weights", "must be as many as biases, one or more")
        layers = []
        for k, pair in enumerate(zip(self.weights, self.biases, strict=True)):
            weight, bias = as_floats(pair[0], f"weights[{k}]", width), as_floats(pair[1], "biases")
            width = bias.size
            if weight.shape != (width, weight.shape[-1]) or not 1 <= width <= LARGEST_WIDTH:
                raise InputError(f"weights[{k}]", f"{weight.shape} does not fit {bias.shape}")
            layers.append((read_only(weight), read_only(bias)))
        object.__setattr__(self, "weights", tuple(weight for weight, _ in layers))
        object.__setattr__(self, "biases", tuple(bias for _, bias in layers))
        self._check_channels("observations", self.mean.size)
        self._check_channels("actions", width)
        law = None
        if (self.gains is None) != (self.network.correction is None):
            raise InputError("gains", "and the network's correction must be given together")
        if self.gains is not None and self.network.correction is not None:
            law = Residual(self.gains, self.network.correction)
            if law.gains.shape != (width, self.mean.size):
                raise InputError("gains", f"{law.gains.shape} do not fit the network")
        object.__setattr__(self, "_law", law)

    @property
    def law(self) -> Residual | None:
        """Law that the network corrects; None without one."""
        law: Residual | None = self.__dict__["_law"]
        return law

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of `gymnasium.make` as in the training, with the channels' scales.

        In such an environment observations and actions mean what they meant in the training, also
        where further options, such as a weaker shaking, would change their scales.
        """
        trained_options, origin = dict(self.origin.options), self.origin
        scales = {
            channel.name: channel.scale for channel in (*origin.observations, *origin.actions)
        }
        return (
            trained_options | {"scales": scales | trained_options.get("scales", {})}
            if scales
            else trained_options
        )

    def __repr__(self) -> str:
        widths = [self.mean.size, *(bias.size for bias in self.biases)]
        return f"<Policy for {self.origin.environment}: {' - '.join(map(str, widths))}>"

    def __call__(self, observation: Any) -> FloatArray:
        """Return actions `(..., a)` in [-1, 1] for observations `(..., o)`.

        Raises:
            InputError: wrong size, or not finite.
        """
        raw_observation = as_floats(observation, "observation", self.mean.size)
        value = (raw_observation - self.mean) / self.scale
        value = np.clip(value, -self.network.limit, self.network.limit)
        last_layer = len(self.weights) - 1
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            value = value @ weight.T + bias
            if k < last_layer:
                relu = self.network.activation == "relu"
                value = np.maximum(value, 0.0) if relu else np.tanh(value)
        tanh = self.network.output == "tanh"
        action = np.tanh(value) if tanh else np.clip(value, -1.0, 1.0)
        return action if self.law is None else self.law.compose(raw_observation, action)

    def save(self, path: str | Path) -> Path:
        """Write an .npz file, weights and biases in single precision; return its path.

        Raises:
            InputError: the ending is not .npz or the place cannot be written to.
        """
        check_writable(path, POLICY_ENDING)
        arrays: dict[str, Any] = {"mean": self.mean, "scale": self.scale}
        if self.gains is not None:
            arrays["gains"] = self.gains
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays |= {
                f"weight_{k}": weight.astype(np.float32),
                f"bias_{k}": bias.astype(np.float32),
            }
        metadata = {
            "layers": len(self.weights),
            "network": self.network.model_dump(mode="json", exclude_none=True),
            "origin": self.origin.model_dump(mode="json"),
        }
        content = {"metadata": np.array(json.dumps(metadata)), **arrays}
        return write_atomically(path, lambda file: np.savez_compressed(file, **content))

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Return a saved policy.

        Raises:
            InputError: no such file, or not a policy that this version can use.
        """
        try:
            content = read_arrays(as_path(path))
            metadata = json.loads(str(content["metadata"]))
            layers = range(int(metadata["layers"]))
            return cls(
                tuple(content[f"weight_{k}"] for k in layers),
                tuple(content[f"bias_{k}"] for k in layers),
                content["mean"],
                content["scale"],
                validated(PolicyNetwork, metadata["network"]),
                validated(PolicyOrigin, metadata["origin"]),
                content.get("gains"),
            )
        except FileNotFoundError:
            raise InputError("path", f"{path} does not exist") from None
        except Exception as error:
            # NumPy's advice on untrusted files does not apply to policies.
            reason = "no archive of numbers" if "pickle" in str(error) else error
            raise InputError("path", f"{path} is not a policy ({reason})") from None

    def _check_channels(self, field: str, size: int) -> None:
        channels = getattr(self.origin, field)
        if channels and sum(channel.size for channel in channels) != size:
            raise InputError(field, f"must have {size} numbers together")


def policy_names() -> tuple[str, ...]:
    """Return the names of the shipped policies."""
    entries = (Path(entry.name) for entry in files("twin.training.policies").iterdir())
    return tuple(sorted(entry.stem for entry in entries if entry.suffix == POLICY_ENDING))


def policies_of(environment: str) -> tuple[str, ...]:
    """Return the names of the shipped policies for an environment."""
    names = policy_names()
    return tuple(name for name in names if load_policy(name).origin.environment == environment)


def load_policy(name: str | Path, known: Sequence[str] = ()) -> Policy:
    """Return a shipped policy by name, or the one in a file.

    Args:
        name: name or path.
        known: names for the message of an unknown one; default: the shipped policies.

    Raises:
        InputError: an unknown name, or a file without a policy.
    """
    if not isinstance(name, (str, Path)):
        raise InputError("policy", f"must be a name or a path, not {brief(name)}")
    if str(name) in policy_names():
        return Policy.load(Path(str(files("twin.training.policies") / f"{name}{POLICY_ENDING}")))
    if as_path(name, "policy").is_file():
        return Policy.load(name)
    names = ", ".join(known or policy_names())
    raise InputError("policy", f"no policy called {str(name)!r} and no such file; known: {names}")


def policy_for(name: str | Path, environment: str, others: Sequence[str] = ()) -> Policy:
    """Return a shipped policy by name, or the one in a file, for an environment.

    Args:
        name: name or path.
        environment: id.
        others: further names for the message of an unknown one, before the shipped policies.

    Raises:
        InputError: as `load_policy`, or a policy for another environment.
    """
    policy = load_policy(name, (*others, *policies_of(environment)))
    if policy.origin.environment != environment:
        raise InputError(
            "policy", f"{name} is for {policy.origin.environment}, not for {environment}"
        )
    return policy


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
    check_writable(path, ONNX_ENDING)
    content = _model(policy).SerializeToString()
    return write_atomically(path, lambda file: file.write(content))


def _model(policy: Policy) -> Any:
    """Return the graph: (observation - mean) / scale, bounds, then layer by layer."""
    onnx, helper = optional("onnx"), optional("onnx.helper")
    node = helper.make_node
    limit, last_layer = policy.network.limit, len(policy.weights) - 1
    numbers = {"mean": policy.mean, "deviation": policy.scale, "low": -limit, "high": limit}
    nodes = [
        node("Sub", ["observation", "mean"], ["centred"]),
        node("Div", ["centred", "deviation"], ["scaled"]),
        node("Clip", ["scaled", "low", "high"], ["layer_0"]),
    ]
    activation = {"tanh": "Tanh", "relu": "Relu"}[policy.network.activation]
    for k, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        numbers |= {f"weight_{k}": weight, f"bias_{k}": bias}
        inputs = [f"layer_{k}", f"weight_{k}", f"bias_{k}"]
        nodes.append(node("Gemm", inputs, [f"sum_{k}"], transB=1))
        if k < last_layer:
            nodes.append(node(activation, [f"sum_{k}"], [f"layer_{k + 1}"]))
    numbers |= {"least": -1.0, "most": 1.0}
    output = "action" if policy.law is None else "correction"
    if policy.network.output == "tanh":
        nodes.append(node("Tanh", [f"sum_{last_layer}"], [output]))
    else:
        nodes.append(node("Clip", [f"sum_{last_layer}", "least", "most"], [output]))
    if policy.law is not None:
        numbers |= {"gains": policy.law.gains.T, "share": policy.law.share}
        nodes += [
            node("MatMul", ["observation", "gains"], ["law"]),
            node("Mul", ["correction", "share"], ["corrected"]),
            node("Add", ["law", "corrected"], ["total"]),
            node("Clip", ["total", "least", "most"], ["action"]),
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
        found = listed(sorted(activations))
        raise InputError("model", f"must have tanh or relu between all its layers, not {found}")
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
