"""The net wrench on a machine on springs, from its Jacobian, springs and weights alone."""

import numpy as np

from twin.analysis.stiffness import springs_of, weight_wrench


def net_wrench(machine, pose, coordinates=None, *, forces=0.0, wrench=0.0, stiffness=None):
    """Return the net wrench `(..., 6)` [N], [N m] at rest; `coordinates` are those without load."""
    springs = springs_of(machine, stiffness)
    rest = springs.rest if coordinates is None else coordinates
    carried = springs.stiffness * (rest - machine.inverse_kinematics(pose)) + forces
    legs = np.einsum("...ij,...i->...j", machine.jacobian(pose), carried)
    return np.asarray(legs + weight_wrench(machine, pose) + wrench)
