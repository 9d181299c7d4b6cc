"""A machine in Pinocchio, an independent multibody library, built from its parameters alone.

An open tree: a free platform, and per leg three joints: two hinges and a slide for UPS legs and
struts, crank hinge and two hinges at the elbow for RSS legs.
"""

import math
from functools import cached_property

import numpy as np
import pinocchio
from tolerance import max_abs

from twin.machine.file.read import parameters_from

FRAME = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED

KINDS = ("ups", "strut", "rss")
"""Kinds of legs that the tree knows."""


def crank_angle(tip, axis, zero, lengths, outward):
    """Return the angle from `zero` about `axis` of a crank whose rod ends at `tip`.

    The elbow lies where the crank's circle meets the sphere of the rod about the tip: in the
    circle's plane, on both sides of the tip's projection. The outward one has the larger angle.
    """
    crank, rod = lengths
    side = np.cross(axis, zero)
    x, y = tip @ zero, tip @ side
    across = tip @ axis
    distance = math.hypot(x, y)
    radius = rod**2 - across**2
    half = math.acos((crank**2 + distance**2 - radius) / (2.0 * crank * distance))
    return math.remainder(math.atan2(y, x) + (half if outward else -half), 2.0 * math.pi)


def inertia_of(body, turn):
    """Return Pinocchio's inertia of a rigid body, its frame mapped by `turn`."""
    tensor = turn @ body.inertia_tensor @ turn.T
    return pinocchio.Inertia(body.mass, turn @ body.center_of_mass_vector, tensor)


def tilted(axis, angle):
    """Return the rotation about a unit vector."""
    return np.asarray(pinocchio.AngleAxis(angle, axis).toRotationMatrix())


class Tree:
    """The machine as an open tree in Pinocchio, from the content of a platform.toml.

    Attributes:
        actuated: places of the actuators' rates among the tree's velocities.
    """

    def __init__(self, content):
        machine = parameters_from(content, "platform.toml")
        self.base, self.top = machine.base.joints.points, machine.platform.joints.points
        self.home = np.array([*machine.home.position, *machine.home.orientation])
        self.home_vectors, self.first_axes = machine.home_leg_vectors, machine.first_axes
        self.model = pinocchio.Model()
        self.model.gravity.linear[:] = [0.0, 0.0, -machine.gravity]
        self.platform_joint = self.add_joint(
            0, pinocchio.JointModelFreeFlyer(), np.zeros(3), "platform"
        )
        self.add_body(self.platform_joint, inertia_of(machine.platform.body, np.eye(3)))
        self.spring_table = np.zeros((6, 3))
        cranked = machine.leg.kind == "rss"
        self.actuated = np.arange(6 if cranked else 8, 24, 3)
        add = self.add_cranked_leg if cranked else self.add_straight_leg
        self.tips = [self.add_tip(i, *add(i, leg)) for i, leg in enumerate(machine.legs)]

    def add_body(self, joint, inertia):
        """Add a body to a joint, whose frame it shares."""
        self.model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())

    def add_joint(self, parent, joint, place, name):
        """Add a joint at a place of its parent's frame; return its number."""
        return int(
            self.model.addJoint(parent, joint, pinocchio.SE3(np.eye(3), np.array(place)), name)
        )

    def add_hinge(self, parent, axis, place, name):
        """Add a joint that turns about an axis; return its number."""
        return self.add_joint(parent, pinocchio.JointModelRevoluteUnaligned(axis), place, name)

    def add_tip(self, i, joint, place):
        """Add the frame of leg i's tip; return its number."""
        frame = pinocchio.SE3(np.eye(3), place)
        kind = pinocchio.FrameType.OP_FRAME
        return int(self.model.addFrame(pinocchio.Frame(f"tip_{i}", joint, 0, frame, kind)))

    def add_straight_leg(self, i, leg):
        """Add a leg that changes its length; return its last joint and the place of its tip."""
        length = float(np.linalg.norm(self.home_vectors[i]))
        along = self.home_vectors[i] / length
        first = self.first_axes[i]
        second = np.cross(first, along)
        second /= np.linalg.norm(second)
        # Columns: the frame of the file's body data at home, whose axes are those of the base
        # here: joints of the tree have no rotation at home.
        angle = leg.frame_angle
        x = math.cos(angle) * second + math.sin(angle) * np.cross(along, second)
        mirror = -1.0 if i + 1 in leg.mirrored else 1.0
        turn = np.column_stack([mirror * x, np.cross(along, x), along])
        hinge = self.add_hinge(0, first, self.base[i], f"first_{i}")
        cross = self.add_hinge(hinge, second, np.zeros(3), f"second_{i}")
        slide = self.add_joint(
            cross, pinocchio.JointModelPrismaticUnaligned(along), length * along, f"slide_{i}"
        )
        self.add_body(cross, inertia_of(leg.housing, turn))
        self.add_body(slide, inertia_of(leg.rod, turn))
        if leg.kind == "strut":
            spring = leg.axial
            rest = (spring.rest_length or length) - length
            self.spring_table[i] = spring.stiffness, spring.damping, rest
        return slide, np.zeros(3)

    def add_cranked_leg(self, i, leg):
        """Add a crank and a rod; return the rod's last joint and the place of its tip."""
        axis = self.first_axes[i]
        zero = np.array(leg.zero) - (np.array(leg.zero) @ axis) * axis
        zero /= np.linalg.norm(zero)
        crank, rod = leg.crank_length, leg.rod_length
        outward = leg.branch == "outward"
        angle = crank_angle(self.home_vectors[i], axis, zero, (crank, rod), outward)
        along = tilted(axis, angle) @ zero
        elbow = crank * along
        reach = self.home_vectors[i] - elbow
        second = np.cross(axis, reach)
        second /= np.linalg.norm(second)
        hinge = self.add_hinge(0, axis, self.base[i], f"crank_{i}")
        cross = self.add_hinge(hinge, axis, elbow, f"first_{i}")
        last = self.add_hinge(cross, second, np.zeros(3), f"second_{i}")
        turn = np.column_stack([axis, np.cross(along, axis), along])
        self.add_body(hinge, inertia_of(leg.crank, turn))
        direction = reach / rod
        slender = leg.rod_mass * rod**2 / 12.0 * (np.eye(3) - np.outer(direction, direction))
        self.add_body(last, pinocchio.Inertia(leg.rod_mass, 0.5 * reach, slender))
        return last, reach

    def passive(self, q, v):
        """Return the forces `(24,)` of springs and dampers along the legs."""
        stiffness, damping, rest = self.spring_table.T
        forces = np.zeros(24)
        forces[self.actuated] = stiffness * (rest - q[self.actuated + 1])
        forces[self.actuated] -= damping * v[self.actuated]
        return forces

    def spring_energy(self, q):
        """Return the energy [J] in the springs along the legs."""
        stiffness, _, rest = self.spring_table.T
        return float(0.5 * stiffness @ (q[self.actuated + 1] - rest) ** 2)

    @cached_property
    def data(self):
        """Work space of the model."""
        return self.model.createData()

    def update(self, q, v=None):
        """Evaluate Jacobians and frames at coordinates, and with rates the drifts of tips too."""
        pinocchio.computeJointJacobians(self.model, self.data, q)
        if v is not None:
            pinocchio.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        pinocchio.updateFramePlacements(self.model, self.data)

    def tip_jacobian(self, i):
        """Return `(3, 3)` from the rates of leg i to its tip's velocity; `update` comes first."""
        full = pinocchio.getFrameJacobian(self.model, self.data, self.tips[i], FRAME)
        return np.array(full[:3, 6 + 3 * i : 9 + 3 * i])

    def close(self, pose):
        """Return the tree's coordinates of a pose: each leg's tip on its platform joint.

        Found on the way from home, so that cranks stay on their side.
        """
        q = pinocchio.neutral(self.model)
        start = self.home * np.r_[np.ones(3), np.full(4, np.sign(self.home[3:] @ pose[3:]))]
        for share in np.linspace(0.0, 1.0, 6):
            between = (1.0 - share) * start + share * pose
            between[3:] /= np.linalg.norm(between[3:])
            self.close_loop(q, between)
        return np.asarray(q)

    def close_loop(self, q, pose):
        """Correct coordinates until the tips are on the platform joints of a pose nearby."""
        q[:3], q[3:7] = pose[:3], pose[[4, 5, 6, 3]]
        rotation = pinocchio.Quaternion(pose[3], *pose[4:]).toRotationMatrix()
        goals = pose[:3] + self.top @ rotation.T
        for _ in range(50):
            self.update(q)
            miss = goals - np.array([self.data.oMf[tip].translation for tip in self.tips])
            for i in range(6):
                q[7 + 3 * i : 10 + 3 * i] += np.linalg.solve(self.tip_jacobian(i), miss[i])
            if max_abs(miss) < 1e-15:
                break
        assert max_abs(miss) < 1e-14, "the tree does not close"

    def motion(self, q, twist):
        """Return T, v and c: velocities v = T twist, accelerations T a + c."""
        rotation = pinocchio.Quaternion(q[6], *q[3:6]).toRotationMatrix()
        arms = self.top @ rotation.T
        into_body = np.kron(np.eye(2), rotation.T)
        transform = np.zeros((24, 6))
        transform[:6] = into_body
        self.update(q)
        for i in range(6):
            reach = np.hstack([np.eye(3), -pinocchio.skew(arms[i])])
            transform[6 + 3 * i : 9 + 3 * i] = np.linalg.solve(self.tip_jacobian(i), reach)
        v = transform @ twist
        self.update(q, v)
        omega, bias = twist[3:], np.zeros(24)
        # A constant velocity of the base frame turns in the platform's axes.
        bias[:3] = -rotation.T @ np.cross(omega, twist[:3])
        for i in range(6):
            known = pinocchio.getFrameClassicalAcceleration(
                self.model, self.data, self.tips[i], FRAME
            )
            wanted = np.cross(omega, np.cross(omega, arms[i]))
            bias[6 + 3 * i : 9 + 3 * i] = np.linalg.solve(
                self.tip_jacobian(i), wanted - known.linear
            )
        return transform, v, bias

    def contacts(self):
        """Return the constraints that close the loops, and their data, for `constraintDynamics`."""
        contacts = pinocchio.StdVec_RigidConstraintModel()
        for i, tip in enumerate(self.model.frames[k] for k in self.tips):
            joint = pinocchio.SE3(np.eye(3), self.top[i])
            contacts.append(
                pinocchio.RigidConstraintModel(
                    pinocchio.ContactType.CONTACT_3D,
                    self.model,
                    tip.parentJoint,
                    tip.placement,
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
