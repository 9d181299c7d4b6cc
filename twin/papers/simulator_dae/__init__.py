"""The driving simulator as differential-algebraic equations, and the exact model beside it.

Small-angle kinematics and dynamics as the paper has them, exact kinematics in closed form, and the
exact equations of motion derived with sympy. Derivations in docs/driving_simulator.md.

Reference: driving simulator paper.
"""

from twin.papers.simulator_dae.exact import ExactModel
from twin.papers.simulator_dae.exact_kinematics import ExactKinematics
from twin.papers.simulator_dae.friction import SlidingFriction
from twin.papers.simulator_dae.index_reduction import (
    IndexReduction,
    multipliers_of_motion,
    reduce_index,
)
from twin.papers.simulator_dae.inputs import DrivenLengths, LengthInput, SigmoidInput, SineInput
from twin.papers.simulator_dae.integration import DaeRun, integrate_dae
from twin.papers.simulator_dae.kinematics import (
    Configuration,
    ConfigurationMotion,
    PlateKinematics,
)
from twin.papers.simulator_dae.lagrange import SymbolicDae, symbolic_dae
from twin.papers.simulator_dae.paper_inputs import sigmoid_inputs, sinusoidal_inputs
from twin.papers.simulator_dae.pillars import Pillars
from twin.papers.simulator_dae.plate import CORNERS, PlateModel
from twin.papers.simulator_dae.small_angle import SmallAngleKinematics

__all__ = [
    "CORNERS",
    "Configuration",
    "ConfigurationMotion",
    "DaeRun",
    "DrivenLengths",
    "ExactKinematics",
    "ExactModel",
    "IndexReduction",
    "LengthInput",
    "Pillars",
    "PlateKinematics",
    "PlateModel",
    "SigmoidInput",
    "SineInput",
    "SlidingFriction",
    "SmallAngleKinematics",
    "SymbolicDae",
    "integrate_dae",
    "multipliers_of_motion",
    "reduce_index",
    "sigmoid_inputs",
    "sinusoidal_inputs",
    "symbolic_dae",
]
