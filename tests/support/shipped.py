"""Files of the shipped machines, and their content for tests that change it."""

import tomllib

from twin.machine import read_parameters
from twin.machine.legs import LEG_KINDS
from twin.machine.machine import machine_names, parameters_path

SHIPPED = {name: parameters_path(name) for name in machine_names()}
"""The platform.toml of every machine by name."""

OF_KIND = {
    "ups": "stewart",
    "strut": "micro_hexapod",
    "rss": "rss",
    "viscoelastic": "compliant_stewart",
    "pillar": "driving_simulator",
    "rps": "tripod",
    "rrs": "balancer",
    "upu": "linuxcnc_hexapod",
}
"""A shipped machine for every kind of legs, or one of the gallery."""

assert set(OF_KIND) == set(LEG_KINDS)


def shipped_content(machine):
    """Return the content of a machine's file."""
    return tomllib.loads(parameters_path(machine).read_text())


def machine_of_kind(kind):
    """Return a shipped machine on legs of a kind."""
    return read_parameters(parameters_path(OF_KIND[kind]))
