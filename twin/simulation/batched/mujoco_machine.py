"""Addresses and views of the MuJoCo fields that a batched plant writes and reads.

The machine is compiled without what is only for display.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.engines.mechanism.assembly import make_mechanism
from twin.engines.mechanism.least_mass import check_masses
from twin.engines.mechanism.mechanism import Mechanism
from twin.engines.mjcf.robot import REFERENCE
from twin.engines.mujoco.model import compile_model, coordinates, mujoco, velocities
from twin.engines.mujoco.settings import make_settings
from twin.engines.stability import Scheme
from twin.machine.mechanism.parts import PLATFORM
from twin.model.ball.ball import Ball
from twin.model.engine import Fidelity
from twin.model.machine_model import MachineModel


class Layout(NamedTuple):
    """Indices into MuJoCo's arrays, the same for all machines."""

    joints: IndexArray
    """`(2, m, n)` joints that add up to the actuators' coordinates: in `qpos`, in `qvel`"""
    springs: IndexArray
    """`(2, k)` springs in the legs, likewise"""
    rubbing: IndexArray
    """`(f, 2)` joints of the sliding feet, in `qvel`"""
    tips: IndexArray
    """`(l,)` sites: first points of the loops"""
    sockets: IndexArray
    """`(l,)` second points"""
    start: int
    """of the platform's free joint in `qpos`; -1 for a platform on joints"""
    start_rate: int
    """of the same in `qvel`"""


class Fields(NamedTuple):
    """Live arrays of all machines."""

    qpos: FloatArray
    qvel: FloatArray
    ctrl: FloatArray
    applied: FloatArray
    """generalised forces"""
    sites: FloatArray
    """`(N, sites, 3)`"""
    positions: FloatArray
    """`(N, 3)` of the platform"""
    turns: FloatArray
    """`(N, 4)` of the platform"""
    motions: FloatArray
    """`(N, 6)` of the platform: angular velocity, velocity of the tree's centre of mass"""
    centers: FloatArray
    """`(N, 3)` of mass of the platform's tree"""
    warning: Any
    """`(N, kinds, 2)` last information and count of MuJoCo's warnings"""


class Kept(NamedTuple):
    """Arrays of all machines that are not among those of MuJoCo."""

    home: FloatArray
    """`(N, n)` coordinates of the actuators at home"""
    sign: FloatArray
    """`(N,)` 1 or -1, of quaternions of platforms on joints"""
    before: FloatArray
    """`(N, 6)` twists one step of the engine before the end of the period"""


class Cycle(NamedTuple):
    """Arrays that are read and written between two steps; a kernel with few starts sooner."""

    constants: FloatArray
    states: FloatArray
    gains: FloatArray
    counters: Any
    queue: FloatArray
    first: FloatArray
    none: FloatArray
    failed: Any
    coordinates: FloatArray
    rates: FloatArray
    forces: FloatArray
    qpos: FloatArray
    qvel: FloatArray
    ctrl: FloatArray
    applied: FloatArray
    warning: Any
    joints: IndexArray
    springs: IndexArray
    rubbing: IndexArray
    home: FloatArray
    """`(N, n)` coordinates of the actuators at home"""
    dry: FloatArray
    """`(N, f, 2)` Coulomb friction [N] and transition speed [m/s] of the feet"""


def cycle_of(home: FloatArray, dry: FloatArray, *groups: Any) -> Cycle:
    """Return the arrays of a cycle from groups of arrays that have them by the same names."""
    found: dict[str, Any] = {"home": home, "dry": dry}
    for group in groups:
        found |= group._asdict()
    return Cycle(*(found[name] for name in Cycle._fields))


def layout_of(machine: Mechanism, model: Any) -> Layout:
    """Return the indices of a machine's parts."""
    both = (coordinates, velocities)
    measured = [actuator.measured for actuator in machine.actuators]
    joints = [np.stack([indices(model, each) for each in measured], axis=1) for indices in both]
    rubbing = [velocities(model, friction.joints) for friction in machine.frictions]
    tips, sockets = (
        np.array([model.site(getattr(loop, end)).id for loop in machine.loops])
        for end in ("first", "second")
    )
    joint = model.joint(PLATFORM) if machine.floats else None
    return Layout(
        np.array(joints),
        np.array([indices(model, machine.deflection) for indices in both]),
        np.array(rubbing, dtype=np.int64).reshape(-1, 2),
        tips,
        sockets,
        -1 if joint is None else int(joint.qposadr[0]),
        -1 if joint is None else int(joint.dofadr[0]),
    )


def fields_of(batch: Any) -> Fields:
    """Return the arrays of a batch; those of bodies are the results of its last call."""
    body = batch.model.body(PLATFORM)
    names = ("qpos", "qvel", "ctrl", "qfrc_applied", "site_xpos")
    qpos, qvel, ctrl, applied, sites = (batch.bind(name) for name in names)
    positions, turns, motions = (batch.bind(name)[:, body.id] for name in ("xpos", "xquat", "cvel"))
    return Fields(
        qpos,
        qvel,
        ctrl,
        applied,
        sites,
        positions,
        turns,
        motions,
        batch.bind("subtree_com")[:, body.rootid[0]],
        batch.warning,
    )


def wrenches_of(batch: Any) -> FloatArray:
    """Return the live array `(N, 6)` of wrenches on the platforms' reference points."""
    wrenches: FloatArray = batch.bind("xfrc_applied")[:, batch.model.body(REFERENCE).id]
    return wrenches


def alike(one: Any, other: Any) -> bool:
    """Return whether two models have the same parts at the same indices."""
    sizes = ("nq", "nv", "nu", "nbody", "njnt", "nsite", "ngeom", "neq", "nstate")
    same = all(getattr(one, size, 0) == getattr(other, size, 0) for size in sizes)
    return same and part_names(one) == part_names(other)


def part_names(model: Any) -> list[str]:
    """Return the names of a model's joints, sites and actuators in their order."""
    kinds = (mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_ACTUATOR)
    counts = (model.njnt, model.nsite, model.nu)
    return [
        str(mujoco.mj_id2name(model, int(kind), number))
        for kind, count in zip(kinds, counts, strict=True)
        for number in range(count)
    ]


class CompiledMachine(NamedTuple):
    """A machine as MuJoCo has it."""

    machine: Mechanism
    model: Any

    @property
    def dry_friction(self) -> FloatArray:
        """Coulomb friction [N] and transition speed [m/s] of the sliding feet `(f, 2)`."""
        feet = [
            (friction.coulomb, friction.transition_speed) for friction in self.machine.frictions
        ]
        return np.array(feet, dtype=float).reshape(-1, 2)


def compile_machine(
    platform: MachineModel, timestep: float, fidelity: str, ball: Ball | None
) -> CompiledMachine:
    """Return a machine compiled for steps of `timestep` [s], with a ball on it or without.

    Raises:
        InputError: MuJoCo refuses the machine.
    """
    machine = _without_shapes(make_mechanism(platform.parameters, ball=ball))
    check_masses(machine, platform.parameters, "mujoco")
    model = compile_model(machine, timestep)
    make_settings(timestep, cast(Fidelity, fidelity)).apply(model, timestep)
    # A bad state must be seen; MuJoCo would put the machine home and go on.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    return CompiledMachine(machine, model)


def scheme_of(platform: MachineModel, timestep: float, fidelity: str) -> Scheme:
    """Return how springs and dampers are stepped; dry friction is held over the step."""
    feet = (getattr(leg, "friction", None) for leg in platform.parameters.legs)
    dry = any(foot is not None and foot.coulomb for foot in feet)
    return "explicit" if dry else make_settings(timestep, cast(Fidelity, fidelity)).scheme


def has_drives(platform: MachineModel) -> bool:
    """Return whether forces on a machine's legs differ from their commands."""
    return any(leg.drive is not None for leg in platform.parameters.legs)


def _without_shapes(machine: Mechanism) -> Mechanism:
    """Return a machine that cannot be seen: it steps the same, 6 % faster, in half the memory."""
    bare = tuple(body._replace(shapes=()) for body in machine.bodies)
    return replace(machine, base_shapes=(), bodies=bare)
