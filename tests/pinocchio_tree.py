"""A machine in Pinocchio, an independent multibody library, built from the file's numbers alone.

An open tree: a free platform, and per leg two hinges and a slide.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

Array = NDArray[np.float64]
FRAME = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED


def number(value: float | str) -> float:
    """Return a number of the file; angles may be written in degrees."""
    return math.radians(float(value.split()[0])) if isinstance(value, str) else float(value)


def joint_points(table: dict[str, Any]) -> Array:
    if "coordinates" in table:
        return np.array(table["coordinates"], dtype=float)
    points = []
    for k in range(3):
        for sign in (-1, 1):
            angle = number(table["center_angle"]) + math.radians(120.0 * k)
            angle += sign * number(table["half_spacing"])
            points.append([math.cos(angle), math.sin(angle), table.get("height", 0.0)])
    radius, shift = number(table["radius"]), table.get("shift", 0)
    listed = [points[(i - shift) % 6] for i in range(6)]
    return np.array(listed) * [radius, radius, 1.0]


def body_inertia(table: dict[str, Any], turn: Array) -> Any:
    """Return Pinocchio's inertia of a body given in the file, its frame mapped by `turn`."""
    if table.get("kind") == "cylinder":
        outer, inner = table["outer_radius"], table.get("inner_radius", 0.0)
        length, start = table["length"], table.get("start", 0.0)
        mass = table["density"] * math.pi * (outer**2 - inner**2) * length
        across = mass * (3 * (outer**2 + inner**2) + length**2) / 12
        tensor = np.diag([across, across, mass * (outer**2 + inner**2) / 2])
        center = np.array([0.0, 0.0, start + length / 2])
    else:
        mass = table["mass"]
        center = np.array(table.get("center_of_mass", [0.0, 0.0, 0.0]))
        tensor = np.array(table["inertia"])
        tensor = np.diag(tensor) if tensor.ndim == 1 else tensor
    return pinocchio.Inertia(mass, turn @ center, turn @ tensor @ turn.T)


class Tree:
    """The machine as an open tree in Pinocchio, from the content of a platform.toml."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.base = joint_points(content["base"]["joints"])
        self.top = joint_points(content["platform"]["joints"])
        home = np.array(content["home"].get("orientation", [1.0, 0.0, 0.0, 0.0]))
        position = np.array(content["home"]["position"])
        rotation = pinocchio.Quaternion(home[0], *home[1:]).toRotationMatrix()
        self.home_vectors = position + self.top @ rotation.T - self.base
        self.model = pinocchio.Model()
        self.model.gravity.linear[:] = [0.0, 0.0, -content["gravity"]]
        self.platform_joint = self._add(0, pinocchio.JointModelFreeFlyer(), np.zeros(3), "platform")
        self.model.appendBodyToJoint(
            self.platform_joint,
            body_inertia(content["platform"]["body"], np.eye(3)),
            pinocchio.SE3.Identity(),
        )
        self.tips = [self._add_leg(i, content["leg"]) for i in range(6)]

    def _add(self, parent: int, joint: Any, place: Array, name: str) -> int:
        return int(
            self.model.addJoint(parent, joint, pinocchio.SE3(np.eye(3), np.array(place)), name)
        )

    def _add_leg(self, i: int, leg: dict[str, Any]) -> int:
        along = self.home_vectors[i] / np.linalg.norm(self.home_vectors[i])
        first = leg["first_axis"]
        first = np.cross(along, [0.0, 0.0, 1.0]) if first == "horizontal" else np.array(first)
        first = first / np.linalg.norm(first)
        second = np.cross(first, along)
        second /= np.linalg.norm(second)
        # Columns: the frame of the file's body data at home, whose axes are those of the base
        # here: joints of the tree have no rotation at home.
        angle = number(leg.get("frame_angle", 0.0))
        x = math.cos(angle) * second + math.sin(angle) * np.cross(along, second)
        mirror = -1.0 if i + 1 in leg.get("mirrored", []) else 1.0
        turn = np.column_stack([mirror * x, np.cross(along, x), along])
        hinge = self._add(
            0, pinocchio.JointModelRevoluteUnaligned(first), self.base[i], f"first_{i}"
        )
        cross = self._add(
            hinge, pinocchio.JointModelRevoluteUnaligned(second), np.zeros(3), f"second_{i}"
        )
        slide = self._add(
            cross, pinocchio.JointModelPrismaticUnaligned(along), np.zeros(3), f"slide_{i}"
        )
        identity = pinocchio.SE3.Identity()
        self.model.appendBodyToJoint(cross, body_inertia(leg["housing"], turn), identity)
        self.model.appendBodyToJoint(slide, body_inertia(leg["rod"], turn), identity)
        return slide

    @cached_property
    def data(self) -> Any:
        """Work space of the model."""
        return self.model.createData()

    def _update(self, q: Array, v: Array | None = None) -> None:
        pinocchio.computeJointJacobians(self.model, self.data, q)
        if v is not None:
            pinocchio.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))

    def tip_jacobian(self, i: int) -> Array:
        """Return `(3, 3)` from the rates of leg i to its tip's velocity; `_update` comes first."""
        full = pinocchio.getJointJacobian(self.model, self.data, self.tips[i], FRAME)
        return np.array(full[:3, 6 + 3 * i : 9 + 3 * i])

    def close(self, pose: Array) -> Array:
        """Return the tree's coordinates of a pose: each leg's tip on its platform joint."""
        q = pinocchio.neutral(self.model)
        q[:3], q[3:7] = pose[:3], pose[[4, 5, 6, 3]]
        rotation = pinocchio.Quaternion(pose[3], *pose[4:]).toRotationMatrix()
        goals = pose[:3] + self.top @ rotation.T
        q[9::3] = np.linalg.norm(self.home_vectors, axis=1)
        for _ in range(50):
            self._update(q)
            miss = goals - np.array([self.data.oMi[tip].translation for tip in self.tips])
            for i in range(6):
                q[7 + 3 * i : 10 + 3 * i] += np.linalg.solve(self.tip_jacobian(i), miss[i])
            if np.abs(miss).max() < 1e-15:
                break
        assert np.abs(miss).max() < 1e-14, "the tree does not close"
        return np.asarray(q)

    def motion(self, q: Array, twist: Array) -> tuple[Array, Array, Array]:
        """Return T, v and c: velocities v = T twist, accelerations T a + c."""
        rotation = pinocchio.Quaternion(q[6], *q[3:6]).toRotationMatrix()
        arms = self.top @ rotation.T
        into_body = np.kron(np.eye(2), rotation.T)
        transform = np.zeros((24, 6))
        transform[:6] = into_body
        self._update(q)
        for i in range(6):
            reach = np.hstack([np.eye(3), -pinocchio.skew(arms[i])])
            transform[6 + 3 * i : 9 + 3 * i] = np.linalg.solve(self.tip_jacobian(i), reach)
        v = transform @ twist
        self._update(q, v)
        omega, bias = twist[3:], np.zeros(24)
        # A constant velocity of the base frame turns in the platform's axes.
        bias[:3] = -rotation.T @ np.cross(omega, twist[:3])
        for i in range(6):
            known = pinocchio.getClassicalAcceleration(self.model, self.data, self.tips[i], FRAME)
            wanted = np.cross(omega, np.cross(omega, arms[i]))
            bias[6 + 3 * i : 9 + 3 * i] = np.linalg.solve(
                self.tip_jacobian(i), wanted - known.linear
            )
        return transform, v, bias

    def contacts(self) -> tuple[Any, Any]:
        """Return the constraints that close the loops, and their data, for `constraintDynamics`."""
        contacts = pinocchio.StdVec_RigidConstraintModel()
        for i, tip in enumerate(self.tips):
            joint = pinocchio.SE3(np.eye(3), self.top[i])
            contacts.append(
                pinocchio.RigidConstraintModel(
                    pinocchio.ContactType.CONTACT_3D,
                    self.model,
                    tip,
                    pinocchio.SE3.Identity(),
                    self.platform_joint,
                    joint,
                    pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED,
                )
            )
        contact_data = pinocchio.StdVec_RigidConstraintData()
        for contact in contacts:
            contact_data.append(contact.createData())
        pinocchio.initConstraintDynamics(self.model, self.data, contacts, contact_data)
        return contacts, contact_data
