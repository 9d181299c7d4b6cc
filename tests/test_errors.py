"""Errors: one root, the fitting builtin, data that survives the way to another process."""

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import twin
from twin import errors
from twin.errors import TwinError
from twin.model.engine import State

pytestmark = pytest.mark.quick

BUILTINS = {
    "InputError": ValueError,
    "UnknownOptionError": TypeError,
    "ParameterError": ValueError,
    "MachineNotFoundError": FileNotFoundError,
    "MissingDependencyError": ImportError,
    "StateError": RuntimeError,
    "ForwardKinematicsError": RuntimeError,
    "SingularPoseError": RuntimeError,
    "UnreachablePoseError": RuntimeError,
    "IntegrationError": RuntimeError,
    "SimulationStoppedError": RuntimeError,
    "ClosedEngineError": RuntimeError,
    "ControlError": RuntimeError,
    "ImpossibleDesignError": RuntimeError,
}

ARGUMENTS = {
    "InputError": ("pose", "must be finite"),
    "UnknownOptionError": ("colour", "is no option of the task"),
    "ParameterError": ("platform.toml", [("leg.rod.mass", "must be above zero")]),
    "MachineNotFoundError": ("unheard", ("srspm", "stewart")),
    "MissingDependencyError": ("pybullet", "the bullet engine", "pip install pybullet"),
}

CLASSES = {
    name: value
    for name, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, Exception)
    and not issubclass(value, Warning)
    and value.__module__ == errors.__name__
}


def test_every_error_is_listed_here():
    assert set(CLASSES) == {"TwinError", *BUILTINS}
    assert twin.TwinError is TwinError


def test_errors_are_twin_errors_and_builtin(subtests):
    for name in BUILTINS:
        with subtests.test(f"{name}"):
            assert issubclass(CLASSES[name], TwinError)
            assert issubclass(CLASSES[name], BUILTINS[name])
            assert CLASSES[name].__doc__


def test_errors_pickle_with_their_data(subtests):
    for name in BUILTINS:
        with subtests.test(f"{name}"):
            state = State(0.1, np.zeros(7), np.zeros(6), np.ones(6), np.zeros(6))
            data = {"index": 3, "pose": np.arange(7.0), "state": state}
            error = CLASSES[name](*ARGUMENTS.get(name, ("stopped", data)))
            again = pickle.loads(pickle.dumps(error))
            assert type(again) is type(error)
            assert str(again) == str(error)
            assert set(vars(again)) == set(vars(error))
            for key, value in vars(error).items():
                if key != "data":
                    assert vars(again)[key] == value
                    continue
                assert set(again.data) == set(value)
                assert_array_equal(again.data["pose"], value["pose"])
                assert_array_equal(again.data["state"].lengths, state.lengths)


def test_messages_hold_the_arguments():
    for name, arguments in ARGUMENTS.items():
        text = str(CLASSES[name](*arguments))
        for argument in arguments:
            words = [argument] if isinstance(argument, str) else list(np.ravel(argument))
            assert all(str(word) in text for word in words)


def test_state_errors_carry_any_data():
    assert errors.StateError("stopped").data == {}
    assert errors.IntegrationError("stopped", {"time": 0.3}).data["time"] == 0.3
