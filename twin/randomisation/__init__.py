"""Domain randomisation as data: distributions over any number of a platform.toml."""

from twin.randomisation.distributions import Choice, LogUniform, Normal, Uniform
from twin.randomisation.paths import nominal_value, numeric_paths, with_values
from twin.randomisation.randomisation import Randomisation
from twin.randomisation.read import as_randomisation, read_randomisation
from twin.randomisation.sampler import Sampled, Sampler
from twin.randomisation.spreads import SPREADS, hardware_spread

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
    "with_values",
]
