"""Domain randomisation as data: distributions over any number of a platform.toml."""

from twin.machine.randomisation.distributions import Choice, LogUniform, Normal, Uniform
from twin.machine.randomisation.paths import nominal_value, numeric_paths, with_values
from twin.machine.randomisation.randomisation import Randomisation
from twin.machine.randomisation.read import as_randomisation, read_randomisation
from twin.machine.randomisation.sampler import Sampled, Sampler
from twin.machine.randomisation.spreads import SPREADS, hardware_spread, wide_spread

__all__ = [
    "SPREADS",
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
