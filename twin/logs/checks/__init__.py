"""Checks of a log: gaps, clocks, units, legs, saturation."""

from __future__ import annotations

from twin.basics.arrays import as_instance, positive
from twin.logs.checks.legs import leg_findings
from twin.logs.checks.limits import saturation_findings
from twin.logs.checks.timing import timing_findings
from twin.logs.checks.units import unit_findings
from twin.logs.log import Finding, Log
from twin.model.machine_model import MachineModel


def check_log(
    log: Log, machine: MachineModel | None = None, largest_gap: float = 10.0
) -> list[Finding]:
    """Return what is wrong with a log, in the order of its channels; an empty list for nothing.

    Args:
        log: with a machine, its channels are signals, see `LogMapping`.
        machine: adds the checks of units, legs and limits.
        largest_gap: median intervals between two samples that are no gap.

    Raises:
        InputError: not a log or machine, or a gap that is not above zero.
    """
    as_instance(log, "log", Log)
    allowed = positive(largest_gap, "largest_gap")
    found = [each for channel in log.channels for each in timing_findings(channel, allowed)]
    if machine is not None:
        as_instance(machine, "machine", MachineModel)
        found += unit_findings(log, machine) + saturation_findings(log, machine)
    return found + leg_findings(log, machine)


__all__ = ["Finding", "check_log"]
