"""Options of controllers: each that cannot be used is an InputError that names it."""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
import pytest

import twin
from twin.control import CONTROLLERS, make_controller
from twin.errors import InputError, TwinError

pytestmark = [pytest.mark.quick, pytest.mark.filterwarnings("error")]

VALUES = [
    3,
    "x",
    [1e-3],
    [1, 2],
    {"a": 1},
    1e308,
    -1,
    float("nan"),
    10**400,
    1e-300,
    np.array([object()]),
    [[1, 2], [3]],
]
OPTIONS = [
    (name, option)
    for name, (module, cls) in CONTROLLERS.items()
    for option in inspect.signature(getattr(import_module(module), cls)).parameters
    if option != "platform"
]


def test_options_are_used_or_refused(subtests: pytest.Subtests) -> None:
    for name, option in OPTIONS:
        with subtests.test(f"{name}"):
            stewart = twin.load("stewart")
            for value in VALUES:
                try:
                    made = make_controller(name, stewart, **{option: value})
                except TwinError:
                    continue
                assert np.isfinite(made.loop_gains).all() or option.startswith("velocity")


def test_faults_name_the_option(subtests: pytest.Subtests) -> None:
    for name, option, value in [
        ("lqr", "design", 3),
        ("lqr", "weights", "x"),
        ("loop_shaping", "design", 3),
        ("loop_shaping", "weights", "x"),
        ("observer", "design", 3),
        ("observer", "period", [1e-3]),
        ("feedforward", "period", "x"),
        ("cascade", "period", 1e308),
        ("computed_torque", "bandwidth", 1e308),
        ("hac_lac", "colour", 3),
        ("cascade", "colour", 3),
    ]:
        with subtests.test(f"{name}"):
            with pytest.raises(InputError) as caught:
                make_controller(name, twin.load("stewart"), **{option: value})
            assert caught.value.field == option
