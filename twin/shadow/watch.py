"""The watch over a machine: it learns a healthy law, then names the causes of residuals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import exp
from typing import Literal

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import drive_model
from twin.model.machine_model import MachineModel
from twin.shadow.detectors import (
    CLEARING_FRACTION,
    FORGETTING_TIME,
    MODEL_ERROR,
    Alarm,
    Cause,
    CauseDetector,
    Hypothesis,
    Kind,
)
from twin.shadow.model import ShadowModel
from twin.shadow.residuals import (
    CONTACT_SIDE,
    EFFORT,
    FRICTION,
    Block,
    HealthyLaw,
    Residual,
    Residuals,
)
from twin.shadow.thresholds import Thresholds

REFERENCE_TIME = 1.0
"""[s] Engineering choice: time over which the initial force of the drives is averaged again after a
gap.
"""

OVERLOAD_FRACTION = 0.9
"""Engineering choice: fraction of the continuous rating above which efforts count as an imminent
overload, so that unexplained forces are not attributed to a cause.
"""

EXTERNAL_FORCE_NOTE = "force from outside"
"""Note of an overload that pushes the platform."""

EFFORT_NOTE = "effort beyond the continuous rating"
"""Note of an overload that a motor's effort shows."""

MOTOR_NOTE = "fraction of its force that is missing"

COMMON_FRACTION = 0.5
"""Engineering choice: ratio of the legs' median rise of friction to the largest rise, above which
the alarm names the machine rather than one leg.
"""

SHIFT_NOTE = "pose has shifted"

SUDDEN_GROWTH = 3.0
"""Engineering choice: ratio of a lead at its alarm to that at the first suspicion, above which the
lead is a slip; wear grows more slowly.
"""

LEAD_CONFIRMATION = 0.4
"""[s] Engineering choice: time for which the lead of a leg is confirmed."""


def force_hypotheses(model: ShadowModel, thresholds: Thresholds) -> list[Hypothesis]:
    """Return the causes of unexplained forces, each with its columns in `force_columns`."""
    machine, n = model.machine, model.machine.n_actuators
    unit, leg_indices = machine.force_unit, range(n)
    friction, payload = thresholds.friction, thresholds.payload
    first_mass, first_wrench = 3 * n + 1, 3 * n + 5
    mass_columns = tuple(range(first_mass, first_wrench))
    wrench_columns = tuple(range(first_wrench, first_wrench + 6))
    # `force` is a root mean square over the legs, the size of a wrench a norm over them.
    wrench_threshold = thresholds.force * np.sqrt(n)
    return [
        *(
            Hypothesis(("friction", k + 1), (k,), friction, unit, one_sided=True)
            for k in leg_indices
        ),
        Hypothesis(("friction", None), (3 * n,), friction, unit, one_sided=True),
        *(Hypothesis(("motor", k + 1), (n + k,), thresholds.motor, "1") for k in leg_indices),
        Hypothesis(("payload", None), mass_columns[:1], payload, "kg"),
        Hypothesis(("payload", None), mass_columns, payload, "kg"),
        Hypothesis(
            ("overload", None),
            wrench_columns,
            wrench_threshold,
            "N",
            is_vector=True,
            note=EXTERNAL_FORCE_NOTE,
        ),
        *(
            Hypothesis(("unexplained", k + 1), (2 * n + k,), thresholds.force, unit, note="force")
            for k in leg_indices
        ),
    ]


def force_columns(block: Block, regressors: FloatArray, length: float) -> FloatArray:
    """Return F `(n, 3 n + 11)` of unexplained forces for a block.

    Its columns are friction, efforts and steady forces, n each; friction of all legs, one; a mass
    and its moments, four; and a wrench from outside, six. Moments are divided by `length` [m].
    """
    friction = regressors[:, FRICTION]
    masses, wrenches = block.mass_forces.copy(), -block.wrench_forces
    masses[:, 1:] /= length
    wrenches[:, 3:] /= length
    leg_blocks = np.diag(friction), np.diag(regressors[:, EFFORT]), np.eye(len(friction))
    return np.hstack([*leg_blocks, friction[:, None], masses, wrenches])


def lead_hypotheses(model: ShadowModel, thresholds: Thresholds) -> list[Hypothesis]:
    """Return the causes of unexplained leads: slips leg by leg, and a pose that has shifted."""
    n, unit = model.machine.n_actuators, model.machine.coordinate_unit
    min_size = 0.5 * thresholds.backlash
    shift_columns = tuple(range(2 * n, 2 * n + 6))
    return [
        *(Hypothesis(("slip", k + 1), (k,), min_size, unit) for k in range(n)),
        Hypothesis(("sensor", None), shift_columns, min_size, "m", is_vector=True, note=SHIFT_NOTE),
    ]


def lead_columns(block: Block, regressors: FloatArray, length: float) -> FloatArray:
    """Return F `(n, 2 n + 6)` of unexplained leads: slips, backlashes, and shifts of the pose."""
    contact_side, shifts = regressors[:, CONTACT_SIDE], block.jacobian.copy()
    shifts[:, 3:] /= length
    return np.hstack([np.eye(len(contact_side)), np.diag(0.5 * contact_side), shifts])


def described_force(alarm: Alarm, machine: MachineModel) -> Alarm:
    """Return the alarm of a cause of forces, in the terms of its reader.

    A motor that needs k more effort than the model gives 1 / (1 + k) of its force. A load beyond
    the platform's own mass is a force from outside.
    """
    body, gravity = machine.parameters.platform.body, machine.parameters.gravity
    if alarm.kind == "motor":
        return alarm._replace(size=alarm.size / (1.0 + alarm.size), note=MOTOR_NOTE)
    if alarm.kind == "payload" and abs(alarm.size) > body.mass:
        force = abs(alarm.size) * gravity
        return alarm._replace(kind="overload", size=force, unit="N", note=EXTERNAL_FORCE_NOTE)
    return alarm


class ResidualWatch:
    """One residual of a machine: its healthy law, and the detector of its causes.

    Attributes:
        detector: detector of the causes of the residual.
        law: law of the healthy machine; None before it was learned.
    """

    def __init__(
        self,
        name: Literal["force", "lead"],
        detector: CauseDetector,
        columns: Callable[[Block, FloatArray, float], FloatArray],
        length: float,
    ) -> None:
        """Store the residual's name in `Block`, and the function that returns F of a block."""
        self.detector = detector
        self.law: HealthyLaw | None = None
        self._name, self._columns, self._length = name, columns, length

    def learn(self, blocks: Sequence[Block]) -> None:
        """Learn the law from blocks of a healthy machine."""
        residuals = [(block, getattr(block, self._name)) for block in blocks]
        usable = [(block, residual) for block, residual in residuals if residual is not None]
        if usable:
            self.law = HealthyLaw([residual for _, residual in usable])
            self.detector.learn([self._normalised(self.law, *pair) for pair in usable])

    def add(self, block: Block) -> tuple[FloatArray, FloatArray] | None:
        """Add a block to the window; return its unexplained residual `(n,)` and F, or None."""
        residual = getattr(block, self._name)
        if residual is None or self.law is None:
            return None
        unexplained, columns = self._normalised(self.law, block, residual)
        self.detector.window.add(unexplained, columns)
        return unexplained * self.law.deviation, columns * self.law.deviation[:, None]

    def _normalised(
        self, law: HealthyLaw, block: Block, residual: Residual
    ) -> tuple[FloatArray, FloatArray]:
        """Return the unexplained residual and F, both divided by the legs' healthy deviations."""
        columns = self._columns(block, residual.regressors, self._length)
        return law.unexplained(residual) / law.deviation, columns / law.deviation[:, None]


class MachineWatch:
    """Learns the laws of a healthy machine, then finds the causes of its residuals.

    Attributes:
        forces: watch over unexplained forces.
        leads: watch over unexplained leads: distances by which motors are ahead of their legs.
        learned: time of motion that was learned as healthy [s].
        wrench: `(6,)` disturbance wrench on the platform, mean over the window.
        ratios: `(n,)` largest ratio of each leg to the threshold of an alarm.
    """

    def __init__(self, model: ShadowModel, thresholds: Thresholds, learning: float) -> None:
        """Watch a machine by its model; the first `learning` [s] of motion count as healthy."""
        machine, n = model.machine, model.machine.n_actuators
        self._learning, self._residuals = learning, Residuals(model)
        block_time = self._block_time = self._residuals.block_size * model.period
        forces = CauseDetector(
            force_hypotheses(model, thresholds),
            3 * n + 11,
            block_time,
            describe=partial(described_force, machine=machine),
        )
        leads = CauseDetector(
            lead_hypotheses(model, thresholds),
            2 * n + 6,
            block_time,
            LEAD_CONFIRMATION,
            self._described_lead,
        )
        self.forces = ResidualWatch("force", forces, force_columns, machine.joint_radius)
        self.leads = ResidualWatch("lead", leads, lead_columns, machine.joint_radius)
        drives = drive_model(machine)
        self._compliance, self._play = drives.compliance.copy(), 2.0 * drives.half_backlash
        if machine.n_deflections:  # springs in the legs yield under what the model does not know
            self._compliance += 1.0 / machine.leg_springs.stiffness
        parameters, unit, legs = machine.parameters.legs, machine.force_unit, range(1, n + 1)
        rating = np.array([leg.actuator.continuous_effort or np.inf for leg in parameters])
        rating = rating if machine.limits else np.inf * rating
        self._efforts = LevelWatch("overload", legs, rating, unit, EFFORT_NOTE)
        friction = np.full(n + 1, thresholds.friction)
        self._wear = LevelWatch("friction", [*legs, None], friction, unit)
        self._decay, self._squared_efforts = exp(-block_time / FORGETTING_TIME), np.zeros(n)
        self._healthy: list[Block] = []
        self.learned, self._force = 0.0, np.zeros(n)
        self._references: list[FloatArray] | None = None
        self.wrench, self.ratios = np.zeros(6), np.zeros(n)

    @property
    def is_learning(self) -> bool:
        """Whether less than the learning time of motion has been seen."""
        return self.learned < self._learning - 0.5 * self._block_time

    @property
    def active(self) -> list[Alarm]:
        """Alarms whose causes persist."""
        parts = self.forces.detector, self.leads.detector, self._efforts, self._wear
        return [alarm for part in parts for alarm in part.active.values()]

    def clear(self) -> None:
        """Reset the windows, such as after a sensor turned out to be dead."""
        self.forces.detector.clear()
        self.leads.detector.clear()

    def restart_after_gap(self) -> None:
        """Continue after a gap: the initial force of the drives is unknown again."""
        self._residuals.start()
        self.clear()
        self._references = []

    def update(
        self, time: float, values: Mapping[str, FloatArray], ages: Mapping[str, float]
    ) -> list[Alarm]:
        """Return the alarms that are new with the fields of a sample at `time` [s]."""
        block = self._residuals.read(values, ages, self._force)
        if block is None:
            return []
        if self.is_learning:
            self._learn(block)
            return []
        if self._references is not None:
            self._refer(block)
            return []
        active = {alarm[1:3] for alarm in self.active}
        self._squared_efforts *= self._decay
        self._squared_efforts += (1.0 - self._decay) * block.squared_efforts
        alarms = self._efforts.update(time, np.sqrt(self._squared_efforts))
        if self._efforts.ratios.max() <= OVERLOAD_FRACTION:
            alarms += self._watch_forces(time, block)
            alarms += self._watch_leads(time, block)
        self._show(block)
        return [alarm for alarm in alarms if alarm[1:3] not in active]

    def _learn(self, block: Block) -> None:
        """Learn from a block; after a gap, learn anew where no forces are measured."""
        if self._references is not None:
            self._references = None
            if not self._residuals.has_forces:
                self._healthy, self.learned = [], 0.0
        if not block.is_moving:
            return
        self._healthy.append(block)
        self.learned += self._block_time
        if not self.is_learning:
            self.forces.learn(self._healthy)
            self.leads.learn(self._healthy)
            self._healthy = []

    def _refer(self, block: Block) -> None:
        """Shift the law of forces after a gap, unless they are measured."""
        law, references = self.forces.law, self._references
        if references is None or self._residuals.has_forces or law is None or block.force is None:
            self._references = None
            return
        references.append(law.unexplained(block.force))
        if len(references) * self._block_time >= REFERENCE_TIME:
            law.shift(np.mean(references, axis=0) - self._force)
            self._references = None

    def _watch_forces(self, time: float, block: Block) -> list[Alarm]:
        """Return new alarms of forces, and let the law follow friction that changes slowly."""
        unexplained_and_columns = self.forces.add(block)
        law = self.forces.law
        detector = self.forces.detector
        if unexplained_and_columns is None or law is None:
            return []
        unexplained, columns = unexplained_and_columns
        alarms = detector.update(time)
        self._force = detector.window.means(slice(2 * len(unexplained), 3 * len(unexplained)))
        leading = detector.leading
        # Friction that changes slowly goes into the law and is reported by `_wear`; while another
        # cause is suspected, the law stays as it is.
        if detector.suspected_since is None or (leading and leading[0] == "friction"):
            friction = columns[:, 3 * len(unexplained)]
            law.follow_friction(unexplained - detector.known_part(columns), friction)
        return alarms + self._wear.update(time, friction_sizes(law.friction_rise))

    def _watch_leads(self, time: float, block: Block) -> list[Alarm]:
        """Return new alarms of leads: slips, backlash, and a pose that has shifted."""
        detector = self.leads.detector
        unexplained_and_columns = self.leads.add(block)
        if unexplained_and_columns is None or self.forces.detector.suspected_since is not None:
            return []  # a force that is not known yet moves legs as well
        # Unexplained forces wind transmissions up and push them through their backlash.
        n = len(self._force)
        has_turned = np.diag(unexplained_and_columns[1][:, n : 2 * n]) == 0.0
        windup = self._compliance * np.abs(self._force) + self._play * has_turned
        return detector.update(time, np.append(windup, np.linalg.norm(windup)))

    def _described_lead(self, alarm: Alarm) -> Alarm:
        """Return the alarm of a lead: backlash where it explains the lead as well as a slip does.

        While the load of a leg keeps its sign, both are the same shift; a sudden one is a slip.
        """
        if alarm.kind != "slip" or alarm.leg is None:
            return alarm
        detector, leg = self.leads.detector, alarm.leg - 1
        slip_evidence, _ = detector.window.estimate((leg,))
        play_evidence, play = detector.window.estimate((len(self._force) + leg,))
        is_sudden = abs(alarm.size) > SUDDEN_GROWTH * abs(detector.onset_sizes[leg])
        is_play = play[0] > 0.0 and play_evidence > (1.0 - MODEL_ERROR) * slip_evidence
        if is_play and not is_sudden:
            return alarm._replace(kind="backlash", size=float(play[0]))
        return alarm

    def _show(self, block: Block) -> None:
        """Update `wrench` and `ratios`."""
        n = len(self._force)
        self.wrench = -block.jacobian.T @ self._force
        force, lead = self.forces.detector.ratios, self.leads.detector.ratios
        leg_ratios = np.stack([force[:n], force[n + 1 : 2 * n + 1], force[-n:], lead[:n]])
        self.ratios = np.maximum(leg_ratios.max(axis=0), self._efforts.ratios)


class LevelWatch:
    """Compares the sizes of a fault with levels, such as efforts with ratings.

    Attributes:
        active: alarms whose causes persist.
        ratios: sizes divided by levels, in the order of the legs.
    """

    def __init__(
        self, kind: Kind, legs: Sequence[int | None], levels: FloatArray, unit: str, note: str = ""
    ) -> None:
        """Store one level per entry of `legs`: a leg's number from 1, or None for the machine."""
        self._causes: list[Cause] = [(kind, leg) for leg in legs]
        self._levels, self._unit, self._note = levels, unit, note
        self.active: dict[Cause, Alarm] = {}
        self.ratios = np.zeros(len(legs))

    def update(self, time: float, sizes: FloatArray) -> list[Alarm]:
        """Return the alarms that are new with sizes in the order of the legs."""
        self.ratios = sizes / self._levels
        alarms = []
        for cause, size, ratio in zip(self._causes, sizes.tolist(), self.ratios, strict=True):
            if ratio < CLEARING_FRACTION:
                self.active.pop(cause, None)
            elif ratio >= 1.0 and cause not in self.active:
                alarms.append(Alarm(time, *cause, size, self._unit, self._note))
                self.active[cause] = alarms[-1]
        return alarms


def friction_sizes(rise: FloatArray) -> FloatArray:
    """Return rises of friction `(n + 1,)`: of the n legs, then of the machine as a whole.

    Where friction rises in all legs, only the machine's entry is above zero.
    """
    is_common = float(np.median(rise)) > COMMON_FRACTION * float(rise.max())
    return np.append(0.0 * rise, np.mean(rise)) if is_common else np.append(rise, 0.0)
