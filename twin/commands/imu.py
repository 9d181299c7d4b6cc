"""Compare the log of an inertial sensor with the reference motion."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twin.basics.arrays import positive
from twin.basics.files import write_text
from twin.charts.text import number
from twin.commands.console import Column, line, table
from twin.commands.options import PAGE, check_files, told_as
from twin.simulation.platform import load

if TYPE_CHECKING:
    from twin.analysis.inertial.response import InertialComparison


def imu(
    log: Path,
    machine: str,
    configuration: str | None,
    motion: Path,
    *,
    layout: str,
    log_rate: float,
    force_unit: str,
    rate_unit: str,
    bandwidth: float | None,
    resolution: float,
    phase: bool,
    plot: Path | None,
    compensated: Path | None,
    json: Path | None,
) -> None:
    """Compare, print ratios by frequency, and write what was asked for."""
    from twin.analysis.inertial.compensation import compensate, write_compensation
    from twin.analysis.inertial.log_file import read_inertial_log, read_thesis_log
    from twin.analysis.inertial.response import compare_log
    from twin.analysis.inertial.summary import summary
    from twin.machine.inertial_sensor import InertialSensor
    from twin.motion import read_recording

    check_files(plot=(plot, PAGE), compensated=(compensated, ""), json=(json, ""))
    width = None if bandwidth is None else positive(bandwidth, "bandwidth")
    platform = load(machine, configuration)
    own = getattr(platform.parameters, "imu", None)
    sensor: InertialSensor = own or InertialSensor(source="none: at the reference point")
    if width is not None:
        sensor = sensor.model_copy(update={"bandwidth": width})
    wanted = read_recording(motion, platform.home)
    with told_as(rate="log_rate"):
        readings = (
            read_thesis_log(log, rate=log_rate, force_unit=force_unit, rate_unit=rate_unit)
            if layout == "thesis"
            else read_inertial_log(log)
        )
    found = compare_log(platform, wanted, readings, sensor, resolution=resolution)
    change = compensate(wanted, found, phase=phase) if compensated or plot else None
    content = summary(found, change)
    _show(platform.name, found, content, own is None)
    if compensated is not None and change is not None:
        line(f"wrote {write_compensation(change, compensated)}")
    if plot is not None:
        from twin.analysis.inertial.figures import write_inertial_page

        line(f"wrote {write_inertial_page(found, plot, change)}")
    if json is not None:
        line(f"wrote {write_text(json, json_text.dumps(content, indent=1) + chr(10))}")


def _show(name: str, found: InertialComparison, content: Any, placeless: bool) -> None:
    """Print what log and motion have in common, and a table per channel."""
    from twin.analysis.inertial.summary import table_rows

    line(
        f"{name}: {content['duration']:.3f} s in common at {content['rate']:.4g} Hz, motion begins "
        f"at {content['offset']:.4f} s of the log, {content['lost']} lost samples"
    )
    if placeless:
        line("the machine has no [imu]: taken to be at the reference point along the platform")
    titles = ("frequency [Hz]", "ratio", "[dB]", "coherence")
    for channel, response in found.responses.items():
        told = content["channels"][channel]
        wish, have = (number(told[f"{kind}_rms"], 4) for kind in ("reference", "measured"))
        title = f"{channel}: rms reference {wish}, measured {have} {told['unit']}"
        table([Column(text, True) for text in titles], table_rows(response), title)
