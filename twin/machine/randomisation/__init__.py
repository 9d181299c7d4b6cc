"""Domain randomisation as data: distributions over any number of a platform.toml."""

from twin.machine.randomisation.distributions import Choice, LogUniform, Normal, Uniform
from twin.machine.randomisation.randomisation import (
    RANDOMISATIONS,
    Randomisation,
    as_randomisation,
    hardware_spread,
    read_randomisation,
    wide_spread,
)
from twin.machine.randomisation.sampler import (
    Sampled,
    Sampler,
    nominal_value,
    numeric_paths,
    with_values,
)

__all__ = [
    "RANDOMISATIONS",
    "Choice",
    "LogUniform",
    "Normal",
    "Randomisation",
    "Sampled",
    "Sampler",
    "Uniform",
    "as_randomisation",
    "hardware_spread",
    "nominal_value",
    "numeric_paths",
    "read_randomisation",
    "wide_spread",
    "with_values",
]
