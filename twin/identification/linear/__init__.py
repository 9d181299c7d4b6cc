"""Linear stage: inertias, springs, friction and tilt by regression on the inverse dynamics."""

from twin.identification.linear.estimate import (
    BaseParameters,
    LinearEstimate,
    base_parameters,
    linear_estimate,
)
from twin.identification.linear.model import LinearModel, linear_model, linear_part, of_drives
from twin.identification.linear.samples import ForceSamples, samples_of_log

__all__ = [
    "BaseParameters",
    "ForceSamples",
    "LinearEstimate",
    "LinearModel",
    "base_parameters",
    "linear_estimate",
    "linear_model",
    "linear_part",
    "of_drives",
    "samples_of_log",
]
