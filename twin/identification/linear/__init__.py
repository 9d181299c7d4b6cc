"""Linear stage: inertias, springs, friction and tilt by regression on the inverse dynamics."""

from twin.identification.linear.estimate import (
    LinearEstimate,
    linear_estimate,
)
from twin.identification.linear.model import LinearModel, linear_model, linear_part, of_drives
from twin.identification.linear.samples import ForceSamples, samples_of_log

__all__ = [
    "ForceSamples",
    "LinearEstimate",
    "LinearModel",
    "linear_estimate",
    "linear_model",
    "linear_part",
    "of_drives",
    "samples_of_log",
]
