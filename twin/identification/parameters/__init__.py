"""Parameters that logs can identify: groups and paths, spreads, and machines with other values."""

from twin.identification.parameters.groups import GROUPS
from twin.identification.parameters.parameter import Parameter
from twin.identification.parameters.select import groups_of, select
from twin.identification.parameters.values import (
    SignalErrors,
    gravity_field,
    signal_errors,
    with_parameters,
)

__all__ = [
    "GROUPS",
    "Parameter",
    "SignalErrors",
    "gravity_field",
    "groups_of",
    "select",
    "signal_errors",
    "with_parameters",
]
