"""Sag of a machine on springs under its weight: predicted by its stiffness, and exact.

A machine with one thing changed: gravity, or the stiffness of its struts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.stiffness.equilibrium import static_pose
from twin.analysis.stiffness.matrix import springs_of, stiffness_parts, strut_springs, weight_wrench
from twin.basics.arrays import FloatArray, as_floats, as_pose, not_negative, positive, read_only
from twin.charts.panels import Axes, Line, panels_figure
from twin.errors import InputError, SingularPoseError
from twin.model.machine_base import Model, changed
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import REST
from twin.rotations import displacement


def with_gravity(platform: Model, gravity: Any) -> Model:
    """Return the machine under another gravity [m/s2] along -z; 0 turns it off.

    Raises:
        InputError: not a machine, not one number from zero on.
    """
    value = not_negative(gravity, "gravity")
    content = as_model(platform).parameters.model_dump()
    content["gravity"] = value
    return changed(platform, content)


def with_strut_stiffness(platform: Model, factor: Any) -> Model:
    """Return the machine with the stiffness and damping of all struts times `factor`.

    Raises:
        InputError: a machine without struts, a factor not above zero.
    """
    if strut_springs(as_model(platform)) is None:
        raise InputError("platform", f"{platform.name} has no struts")
    scale = positive(factor, "factor")
    content = platform.parameters.model_dump()
    for table in (content, *content["variant"]):
        axial = table["leg"]["axial"]
        axial["stiffness"] *= scale
        axial["damping"] *= scale
    return changed(platform, content)


class Sag(NamedTuple):
    """Displacement from the commanded pose to where the machine comes to rest."""

    commanded: FloatArray
    """`(7,)` pose that the rest coordinates mean without load"""
    pose: FloatArray
    """`(7,)` static equilibrium"""
    load: FloatArray
    """`(6,)` weights and external wrench at the commanded pose [N], [N m]"""
    predicted: FloatArray
    """`(6,)` [m], [rad]: compliance of the unloaded machine times the load"""
    exact: FloatArray
    """`(6,)` [m], [rad]: from the commanded pose to the equilibrium, rotation vector"""

    @property
    def remainder(self) -> FloatArray:
        """Error of the prediction `(6,)` [m], [rad]; of second order in the load."""
        return self.exact - self.predicted


def sag(
    platform: MachineModel, pose: Any = None, *, wrench: Any = None, stiffness: Any = None
) -> Sag:
    """Return the sag of a machine commanded to a pose by its rest coordinates.

    The unloaded machine is at the pose and its legs carry nothing, so its stiffness is the
    elastic part J^T diag(k) J alone.

    Args:
        platform: the machine.
        pose: commanded `(7,)`, default home.
        wrench: external wrench `(6,)` besides the weight, default none.
        stiffness: of the actuators, see `springs_of`.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: the pose is singular.
        StateError: an `EquilibriumError`, where the springs do not hold the load.
    """
    springs = springs_of(platform, stiffness)
    commanded = as_pose(platform.home if pose is None else pose)
    if commanded.shape != (7,):
        raise InputError("pose", f"must be one pose (7,), got shape {commanded.shape}")
    load = weight_wrench(platform, commanded) + as_floats(
        REST if wrench is None else wrench, "wrench", 6
    )
    elastic = stiffness_parts(
        platform, commanded, springs.stiffness, np.zeros(platform.n_actuators)
    ).elastic
    try:
        predicted = np.asarray(np.linalg.solve(elastic, load), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise SingularPoseError(
            f"{platform.name} cannot hold any load at this pose; move away from it",
            {"index": 0, "pose": commanded},
        ) from None
    rest = platform.inverse_kinematics(commanded)
    found = static_pose(platform, rest, wrench=wrench, stiffness=stiffness, guess=commanded)
    return Sag(commanded, found, load, predicted, displacement(found, commanded))


class SagSweep(NamedTuple):
    """Sag of one machine over a factor on its stiffness or on gravity."""

    factors: FloatArray
    """`(k,)`"""
    sags: tuple[Sag, ...]


def sag_over_stiffness(
    platform: MachineModel, factors: Sequence[float], pose: Any = None, *, stiffness: Any = None
) -> SagSweep:
    """Return the sag with the stiffness times each of the factors `(k,)`.

    Raises:
        InputError: factors not above zero, wrong shapes, or no stiffness known.
        StateError: an `EquilibriumError`, where the springs do not hold the load.
    """
    springs = springs_of(platform, stiffness)
    values = _factors(factors)
    results = [
        sag(with_strut_stiffness(platform, value), pose)
        if springs.own
        else sag(platform, pose, stiffness=value * springs.stiffness)
        for value in values
    ]
    return SagSweep(values, tuple(results))


def sag_over_gravity(
    platform: MachineModel, factors: Sequence[float], pose: Any = None, *, stiffness: Any = None
) -> SagSweep:
    """Return the sag under gravity times each of the factors `(k,)`.

    Raises:
        InputError: factors not above zero, wrong shapes, or no stiffness known.
        StateError: an `EquilibriumError`, where the springs do not hold the load.
    """
    values = _factors(factors)
    gravity = platform.parameters.gravity
    results = [
        sag(with_gravity(platform, value * gravity), pose, stiffness=stiffness) for value in values
    ]
    return SagSweep(values, tuple(results))


def sag_figure(sweep: SagSweep, x_label: str) -> Any:
    """Return a plotly figure of sag, exact and predicted, over the factor of a sweep.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    exact, predicted = (
        np.array([getattr(sag, name) for sag in sweep.sags]) for name in ("exact", "predicted")
    )
    panels = []
    for label, columns in (
        ("translation [m]", slice(0, 3)),
        ("rotation [rad]", slice(3, 6)),
    ):
        curves = (
            ("exact", exact, "line"),
            ("predicted by the stiffness", predicted, "dash"),
            ("error of the prediction", exact - predicted, "line+markers"),
        )
        lines = [
            Line(name, sweep.factors, _sizes(values[:, columns]), style)
            for name, values, style in curves
        ]
        panels.append(Axes(label, lines, log_y=True))
    return panels_figure(panels, x_label, log_x=True, title="Sag")


def _factors(factors: Any) -> FloatArray:
    values = as_floats(factors, "factors")
    if values.ndim != 1 or not values.size or not (values > 0.0).all():
        raise InputError("factors", "must be a list of numbers above zero")
    return read_only(values)


def _sizes(values: FloatArray) -> FloatArray:
    """Return lengths of rows; zeros, which have no place on decades, are left out."""
    sizes = np.linalg.norm(values, axis=1)
    return np.where(sizes > 0.0, sizes, np.nan)
