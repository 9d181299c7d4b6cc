"""Five Lagrangian formulations of one machine, to be compared; derivation in docs/reproductions.md.

Reference: extended-configuration-space paper.
"""

from twin.papers.formulations.formulation import Formulation, formulation_names
from twin.papers.formulations.model import FormulationRun

__all__ = ["Formulation", "FormulationRun", "formulation_names"]
