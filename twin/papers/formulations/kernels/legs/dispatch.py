"""Legs of the extended model by their kind, chosen from the type of the constants."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from twin.kernels.jit import by_kind
from twin.kernels.legs.interface import Legs
from twin.kernels.legs.rss import RssLegs
from twin.kernels.legs.ups import UpsLegs
from twin.kernels.linear_algebra import Vector
from twin.papers.formulations.kernels.arrays import Model, Work
from twin.papers.formulations.kernels.legs import rss, ups

P = ParamSpec("P")
R = TypeVar("R")

LEG_MODULES: dict[type, ModuleType] = {UpsLegs: ups, RssLegs: rss}


def replaced(stub: Callable[P, R]) -> Callable[P, R]:
    """Replace a function without a body, in compiled code, by that of the kind."""
    name = stub.__name__

    @by_kind(stub)
    def choose(legs: Any, *arguments: Any) -> Callable[..., Any]:
        kernel = getattr(LEG_MODULES[legs.instance_class], name)
        return lambda legs, *arguments: kernel(legs.rows, *arguments)

    return stub


@replaced
def find_joints(legs: Legs, model: Model, work: Work, i: int, vector: Vector) -> bool:
    """Fill the joint coordinates of leg i, its tip at `vector` from its base joint."""
    raise NotImplementedError


@replaced
def place_leg(legs: Legs, model: Model, work: Work, i: int) -> None:
    """Fill frame, tip, T and its inverse of leg i from its joint coordinates."""
    raise NotImplementedError


@replaced
def move_leg(legs: Legs, model: Model, work: Work, i: int, gravity: Vector) -> None:
    """Fill the tip's bias and the blocks of mass and bias of leg i from joints and rates."""
    raise NotImplementedError


@replaced
def leg_potential(legs: Legs, work: Work, i: int, gravity: Vector) -> float:
    """Return the potential energy [J] of leg i; zero at the base's origin."""
    raise NotImplementedError


@replaced
def leg_regular(legs: Legs, work: Work, i: int) -> bool:
    """Return False where leg i, placed, is singular."""
    raise NotImplementedError
