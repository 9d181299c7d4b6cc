"""Exciting motions: those that show parameters best within all limits of a machine."""

from twin.identification.excitation.excite import Excitation, excite
from twin.identification.excitation.motion import ExcitingMotion, motion_table
from twin.identification.excitation.prediction import predictable, trial

__all__ = ["Excitation", "ExcitingMotion", "excite", "motion_table", "predictable", "trial"]
