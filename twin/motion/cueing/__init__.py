"""Motion cueing: what a platform does so that its driver perceives a vehicle's manoeuvre."""

from twin.motion.cueing.algorithm import CuedMotion, CueingAlgorithm
from twin.motion.cueing.classical import (
    AdaptiveSettings,
    AdaptiveWashout,
    ClassicalWashout,
    WashoutSettings,
)
from twin.motion.cueing.manoeuvre import (
    MANOEUVRES,
    Car,
    Manoeuvre,
    Tyre,
    coordinated_turn,
    make_manoeuvre,
)
from twin.motion.cueing.perception import Perceived, PerceivedError, perceived, perceived_error
from twin.motion.cueing.predictive import PredictiveCueing, PredictiveSettings
from twin.motion.cueing.run import (
    ALGORITHMS,
    Cue,
    Outcome,
    compare,
    cue,
    default_head,
    outcome,
    standstill_error,
)
from twin.motion.cueing.workspace_use import (
    WorkspaceUse,
    read_manoeuvre,
    sensed_manoeuvre,
    workspace_use,
    write_motion,
)

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
    "make_manoeuvre",
    "outcome",
    "perceived",
    "perceived_error",
    "read_manoeuvre",
    "sensed_manoeuvre",
    "standstill_error",
    "workspace_use",
    "write_motion",
]
