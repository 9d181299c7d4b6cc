"""Tuning by optimisation: step specifications, the search for gains that meet them, their use."""

from twin.analysis.tuning.linear_step import HeaveLeg, heave_leg, velocity_step_response
from twin.analysis.tuning.motor_step import MotorResponse, motor_response, with_armature
from twin.analysis.tuning.position_step import SETTLING, position_response, tune_position
from twin.analysis.tuning.search import Search, Trial, search_bounds
from twin.analysis.tuning.snippet import control_snippet
from twin.analysis.tuning.specification import (
    VELOCITY_STEP,
    StepFigures,
    StepSpecification,
    position_step,
    step_figures,
)
from twin.analysis.tuning.tuning import Gain, Tuning
from twin.analysis.tuning.velocity_step import tune_velocity, velocity_gains, velocity_response

__all__ = [
    "SETTLING",
    "VELOCITY_STEP",
    "Gain",
    "HeaveLeg",
    "MotorResponse",
    "Search",
    "StepFigures",
    "StepSpecification",
    "Trial",
    "Tuning",
    "control_snippet",
    "heave_leg",
    "motor_response",
    "position_response",
    "position_step",
    "search_bounds",
    "step_figures",
    "tune_position",
    "tune_velocity",
    "velocity_gains",
    "velocity_response",
    "velocity_step_response",
    "with_armature",
]
