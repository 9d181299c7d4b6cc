"""Residuals of a machine in blocks of 20 ms: forces and leads that its model does not explain.

The force residual r of a leg is what its motor gives beyond what the model needs for the measured
motion. The lead residual p is the leg of the model, which follows the motors, less the leg by the
measured pose. A real machine never matches its file exactly: a healthy one has the law

    r = c0 + c1 friction + c2 rate + c3 acceleration + c4 effort + c5 position + c6 side

and one of the same form for p, where friction is the direction of motion with the file's ratio of
viscous to dry friction. They take up, to first order, what the file gets wrong: friction (friction,
rate), delay (rate), masses (acceleration, effort), constants of motors (effort), springs and screws
(position), backlash (side).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, outer, rotation_matrix
from twin.control.gains import drive_model
from twin.kernels.kinematics import inverse_kinematics_batch
from twin.shadow.model import ShadowModel

BLOCK_TIME = 0.02
"""[s] Engineering choice: duration of a block, short beside the 2 s that a detection may take."""

CONSTANT, FRICTION, RATE, ACCELERATION, EFFORT, POSITION, CONTACT_SIDE = range(7)
"""Columns of the regressors of a leg: 1; direction of motion plus viscous friction relative to dry
friction; rate; acceleration; effort of the motor that the model needs; coordinate from home; and
the sign of the flank at which the transmission is in contact.
"""

REGRESSOR_COUNT = 7

FORCE, LEAD = range(2)
"""Kinds of residuals."""

HISTORY_TIME = 0.25
"""[s] Engineering choice: longest delay of a channel that can be compared at its own time."""

ACCELERATION_FILTER_TIME = 0.01
"""[s] Engineering choice: time constant of the low-pass of the actuator speed from which the
acceleration is derived.
"""

CONTACT_FORCE_FRACTION = 0.1
"""Fraction of the holding force above which a transmission is in contact at one side of its
backlash.
"""

PRIOR_FRACTION = 1e-3
"""Engineering choice: weight of the prior that all coefficients are zero, relative to the weight of
the learned blocks; it determines coefficients that the motion does not excite.
"""

FRICTION_TRACKING_TIME = 8.0
"""[s] Engineering choice: time constant with which the laws follow friction: long beside a
detection, short beside the minutes of warming and wear.
"""


class Residual(NamedTuple):
    """Means over one block, taken at the times of its measurements."""

    values: FloatArray
    """`(n,)` r [N, N m] or p [m, rad]"""
    regressors: FloatArray
    """`(n, 7)`"""


class Block(NamedTuple):
    """Residuals of one block, and the quantities from which the effect of causes follows."""

    force: Residual | None
    """None without a measurement in the block"""
    lead: Residual | None
    """None without a measurement in the block"""
    squared_efforts: FloatArray
    """squared forces of the model's motors [N2, N2 m2]"""
    wrench_forces: FloatArray
    """`(n, 6)` forces of the legs that balance unit wrenches on the platform"""
    mass_forces: FloatArray
    """`(n, 4)` forces of the legs that carry and accelerate 1 kg at the platform's centre of mass,
    then their change per metre that the mass is moved along each of the platform's axes
    """
    jacobian: FloatArray
    """`(n, 6)`"""
    is_moving: bool
    """whether a leg moves so fast that its friction is fully developed"""


class Residuals:
    """Compares samples with the model at the times of their measurement, and sums up blocks."""

    def __init__(self, model: ShadowModel) -> None:
        """Store the drive constants of the model's machine."""
        machine, n = model.machine, model.machine.n_actuators
        self._model, drives = model, drive_model(machine)
        self._slow_speed = np.maximum(
            drives.stribeck_speed * (drives.friction > 0.0), drives.friction_smoothing_speed
        )
        dry = np.where(drives.friction > 0.0, drives.friction, np.inf)
        self._viscous_ratio = drives.viscous / dry
        self._backlash_smoothing_force = drives.backlash_smoothing_force
        self._filter_decay = exp(-model.period / ACCELERATION_FILTER_TIME)
        self._home = machine.home_coordinates
        self._center = np.array(machine.parameters.platform.body.center_of_mass)
        self._gravity = np.array([0.0, 0.0, machine.parameters.gravity])
        self._filtered_rates = np.zeros(n)
        self._poses = np.zeros((2, 7))
        self._coordinates = np.zeros((2, n))
        self.block_size = max(1, round(BLOCK_TIME / model.period))
        # One row a sample: pose, disturbance, and the regressors leg by leg.
        self._regressors_begin, width = 7 + n, 7 + n + n * REGRESSOR_COUNT
        self._history = np.zeros((max(2, round(HISTORY_TIME / model.period)), width))
        self._sums = np.zeros((2, n, 1 + REGRESSOR_COUNT))
        self._squared_efforts = np.zeros(n)
        self.start()

    def start(self) -> None:
        """Restart with the model, without a history."""
        self._filtered_rates[:] = self._model.rates
        self._known_rows, self._last_pose = 0, np.zeros(7)
        self.has_forces = False
        self._clear()

    def read(
        self, values: Mapping[str, FloatArray], ages: Mapping[str, float], known_force: FloatArray
    ) -> Block | None:
        """Add one sample by which the model was corrected; return the block that it completes.

        None is returned while the block is incomplete.

        Args:
            values: fields of the sample.
            ages: [s] ages of the fields at the time of the sample.
            known_force: `(n,)` known part of the unexplained force on each actuator [N, N m].
        """
        self._store_row(known_force)
        forces, pose = values.get("forces"), values.get("pose")
        self.has_forces |= forces is not None
        if forces is not None or not self.has_forces:
            self._add(FORCE, ages.get("forces", 0.0), forces)
        if pose is not None and not np.array_equal(pose, self._last_pose):
            self._last_pose = pose
            self._add(LEAD, ages.get("pose", 0.0), pose)
        self._squared_efforts += self._model.efforts**2
        self._count += 1
        return self._finish_block() if self._count == self.block_size else None

    def _store_row(self, known_force: FloatArray) -> None:
        """Add a row of the model's present state to the history."""
        model, n = self._model, len(self._filtered_rates)
        rates, forces = model.rates, model.forces
        change = rates - self._filtered_rates
        self._filtered_rates += (1.0 - self._filter_decay) * change
        row = self._history[self._known_rows % len(self._history)]
        row[:7], row[7 : self._regressors_begin] = model.pose, model.disturbance
        regressors = row[self._regressors_begin :].reshape(n, REGRESSOR_COUNT)
        regressors[:, CONSTANT] = 1.0
        direction = np.minimum(np.maximum(rates / self._slow_speed, -1.0), 1.0)
        regressors[:, FRICTION] = direction + self._viscous_ratio * rates
        regressors[:, RATE] = rates
        regressors[:, ACCELERATION] = change / ACCELERATION_FILTER_TIME
        regressors[:, EFFORT] = model.needed_efforts()
        regressors[:, POSITION] = model.coordinates - self._home
        # Where an unknown force could have turned the load, the side is unknown.
        is_in_contact = np.abs(
            forces
        ) > CONTACT_FORCE_FRACTION * self._backlash_smoothing_force + np.abs(known_force)
        regressors[:, CONTACT_SIDE] = np.sign(forces) * is_in_contact
        self._known_rows += 1

    def _row(self, age: float) -> FloatArray | None:
        """Return the model's row of `age` [s] ago; None where it is no longer stored."""
        periods_ago = max(age / self._model.period, 0.0)
        whole_periods = int(periods_ago)
        size, newest = len(self._history), self._known_rows - 1
        if whole_periods + 1 >= min(size, self._known_rows):
            return self._history[newest % size] if periods_ago == 0.0 else None
        newer = self._history[(newest - whole_periods) % size]
        older = self._history[(newest - whole_periods - 1) % size]
        return np.asarray(newer + (periods_ago - whole_periods) * (older - newer))

    def _add(self, kind: int, age: float, measured: FloatArray | None) -> None:
        """Add the residual of a measurement of `age` [s] ago.

        None stands for forces that are not measured: the disturbance is their residual.
        """
        row = self._row(age)
        if row is None:
            return
        regressors = row[self._regressors_begin :].reshape(-1, REGRESSOR_COUNT)
        residual = row[7 : self._regressors_begin]
        if kind == LEAD:
            self._poses[0], self._poses[1] = row[:7], measured
            self._poses[0, 3:] /= np.sqrt(row[3:7] @ row[3:7])
            inverse_kinematics_batch(
                self._model.machine.constants.legs, self._poses, self._coordinates
            )
            residual = self._coordinates[0] - self._coordinates[1]
        elif measured is not None:
            residual = measured - regressors[:, EFFORT]
        self._sums[kind, :, 0] += residual
        self._sums[kind, :, 1:] += regressors
        self._counts[kind] += 1

    def _clear(self) -> None:
        self._sums[:] = 0.0
        self._squared_efforts[:] = 0.0
        self._count, self._counts = 0, [0, 0]

    def _finish_block(self) -> Block:
        """Return the block of the sums, and begin the next one."""
        model = self._model
        jacobian = model.jacobian().copy()
        wrench_forces = model.allowed_motion().T
        load = model.acceleration[:3] + self._gravity
        turn = rotation_matrix(model.pose[3:])
        arms = np.column_stack([turn @ self._center, turn])
        mass_forces = wrench_forces[:, 3:] @ np.cross(arms, load, axisa=0).T
        mass_forces[:, 0] += wrench_forces[:, :3] @ load
        force, lead = (
            Residual(sums[:, 0] / count, sums[:, 1:] / count) if count else None
            for sums, count in zip(self._sums, self._counts, strict=True)
        )
        present = self._history[(self._known_rows - 1) % len(self._history)]
        friction = present[self._regressors_begin :].reshape(-1, REGRESSOR_COUNT)[:, FRICTION]
        block = Block(
            force,
            lead,
            self._squared_efforts / self._count,
            np.asarray(wrench_forces),
            np.asarray(mass_forces),
            jacobian,
            bool(np.abs(friction).max() >= 1.0),
        )
        self._clear()
        return block


class HealthyLaw:
    """Law of the residuals of a healthy machine, leg by leg; its friction may drift.

    Attributes:
        coefficients: `(n, 7)`.
        friction_rise: `(n,)` rise of friction since the law was learned [N, N m].
        deviation: `(n,)` standard deviation of a block from the law.
    """

    def __init__(self, residuals_of_blocks: Sequence[Residual]) -> None:
        """Fit the law to the residuals of healthy blocks."""
        residuals = np.array([residual.values for residual in residuals_of_blocks])
        rows = np.array([residual.regressors for residual in residuals_of_blocks])
        # Normal equations of every leg, with a weak prior that all coefficients are zero.
        squares = np.einsum("bni,bnj->nij", rows, rows)
        products = np.einsum("bni,bn->ni", rows, residuals)
        scale = np.sqrt(np.einsum("nii->ni", squares))
        scale[scale == 0.0] = 1.0
        normalised = squares / outer(scale, scale)
        normalised += PRIOR_FRACTION * np.eye(REGRESSOR_COUNT)
        inverse = np.linalg.inv(normalised) / outer(scale, scale)
        self.coefficients = np.einsum("nij,nj->ni", inverse, products)
        self.friction_rise = np.zeros(len(squares))
        errors = residuals - np.einsum("bni,ni->bn", rows, self.coefficients)
        self.deviation = np.sqrt(np.mean(errors**2, axis=0)) + 1e-12 * np.abs(residuals).max()
        squared_friction = np.mean(rows[:, :, FRICTION] ** 2, axis=0)
        self._gain = BLOCK_TIME / (FRICTION_TRACKING_TIME * np.maximum(squared_friction, 0.1))

    def unexplained(self, residual: Residual) -> FloatArray:
        """Return a residual `(n,)` less the value of the law."""
        predicted = np.einsum("ni,ni->n", residual.regressors, self.coefficients)
        predicted += self.friction_rise * residual.regressors[:, FRICTION]
        return np.asarray(residual.values - predicted)

    def follow_friction(self, unexplained: FloatArray, friction: FloatArray) -> None:
        """Let the law follow unexplained residuals `(n,)` along the friction regressors `(n,)`.

        Dry and viscous friction change in proportion, as warming and wear change both. The time
        constant is `FRICTION_TRACKING_TIME`, so that a sudden fault is seen before it is followed.
        """
        self.friction_rise += self._gain * friction * unexplained

    def shift(self, force: FloatArray) -> None:
        """Add forces `(n,)` to the constant part of the law."""
        self.coefficients[:, CONSTANT] += force
