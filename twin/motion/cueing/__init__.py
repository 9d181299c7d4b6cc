"""Motion cueing: what a platform does so that its driver perceives a vehicle's manoeuvre."""

from twin.motion.cueing.adaptive import AdaptiveWashout
from twin.motion.cueing.adaptive_channels import AdaptiveSettings
from twin.motion.cueing.algorithm import CueingAlgorithm
from twin.motion.cueing.car import Car
from twin.motion.cueing.classical import ClassicalWashout
from twin.motion.cueing.comparison import Outcome, compare, outcome, standstill_error
from twin.motion.cueing.cued_motion import CuedMotion
from twin.motion.cueing.felt_manoeuvre import felt_manoeuvre
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.cueing.manoeuvre_table import read_manoeuvre
from twin.motion.cueing.motion_table import write_motion
from twin.motion.cueing.perceived_error import PerceivedError, perceived_error
from twin.motion.cueing.perception import Perceived, perceived
from twin.motion.cueing.predictive import PredictiveCueing
from twin.motion.cueing.predictive_settings import PredictiveSettings
from twin.motion.cueing.run import ALGORITHMS, Cue, cue, default_head
from twin.motion.cueing.standard_manoeuvres import MANOEUVRES, coordinated_turn, make_manoeuvre
from twin.motion.cueing.tyre import Tyre
from twin.motion.cueing.washout_settings import WashoutSettings
from twin.motion.cueing.workspace_use import WorkspaceUse, workspace_use

__all__ = [
    "ALGORITHMS",
    "MANOEUVRES",
    "AdaptiveSettings",
    "AdaptiveWashout",
    "Car",
    "ClassicalWashout",
    "Cue",
    "CuedMotion",
    "CueingAlgorithm",
    "Manoeuvre",
    "Outcome",
    "Perceived",
    "PerceivedError",
    "PredictiveCueing",
    "PredictiveSettings",
    "Tyre",
    "WashoutSettings",
    "WorkspaceUse",
    "compare",
    "coordinated_turn",
    "cue",
    "default_head",
    "felt_manoeuvre",
    "make_manoeuvre",
    "outcome",
    "perceived",
    "perceived_error",
    "read_manoeuvre",
    "standstill_error",
    "workspace_use",
    "write_motion",
]
