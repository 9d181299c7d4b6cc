"""Legs with a viscoelastic element: the compliant-leg paper's problems, in its own shape.

Independent of the compiled kernels, in numpy and, for one leg, sympy; derivation and figures in
docs/compliant_legs.md.

Reference: compliant-leg paper, "Equations of motion & forward dynamics for a Stewart platform with
viscoelastic compliant legs".
"""

from twin.papers.compliant_legs.energies import energy, power
from twin.papers.compliant_legs.equilibrium import (
    Equilibrium,
    held_equilibrium,
    locked_equilibrium,
)
from twin.papers.compliant_legs.extended_system import solve_extended
from twin.papers.compliant_legs.linear import (
    Linearisation,
    held_linearisation,
    locked_linearisation,
)
from twin.papers.compliant_legs.load_cases import (
    LoadCase,
    LoadResponse,
    run_load_cases,
    standard_load_cases,
)
from twin.papers.compliant_legs.loads import NO_LOAD, Load, load
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.papers.compliant_legs.modes import Modes, modes_of
from twin.papers.compliant_legs.motion import CompliantMotion, free_motion, locked_motions
from twin.papers.compliant_legs.occupant_study import OccupantEffect, occupant_study
from twin.papers.compliant_legs.solve import (
    CompliantSolution,
    rest_lengths,
    solve_free,
    solve_locked,
)

__all__ = [
    "NO_LOAD",
    "CompliantMachine",
    "CompliantMotion",
    "CompliantSolution",
    "Equilibrium",
    "Linearisation",
    "Load",
    "LoadCase",
    "LoadResponse",
    "Modes",
    "OccupantEffect",
    "energy",
    "free_motion",
    "from_parameters",
    "held_equilibrium",
    "held_linearisation",
    "load",
    "locked_equilibrium",
    "locked_linearisation",
    "locked_motions",
    "modes_of",
    "occupant_study",
    "power",
    "rest_lengths",
    "run_load_cases",
    "solve_extended",
    "solve_free",
    "solve_locked",
    "standard_load_cases",
]
