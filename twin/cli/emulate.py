"""The command `emulate`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from twin.charts.results import Cell
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import Notices, interruption, line, table
from twin.cli.options import file_option, option
from twin.cli.tables.shadow import fault_lines, refused_lines
from twin.cli.values import check_files, quantity_option, settings_from
from twin.errors import InputError

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.link.emulated import EmulatedMachine
    from twin.link.emulation import Emulation
    from twin.link.recording import Recording

Values = Annotated[
    list[str] | None,
    option(
        "The machine as it really is: a platform.toml, a TOML file of paths and values, or "
        'one number such as leg.drive.backlash="0.2 mm"; may be repeated. The control unit '
        "knows MACHINE.",
        metavar="FILE|PATH=VALUE",
    ),
]
Rate = Annotated[float, quantity_option("Measurements and commands per second in Hz.", "Hz")]
Faults = Annotated[
    list[str] | None,
    option(
        "What goes wrong: friction, backlash, counts, payload, sensor, overload, drop or "
        "delay, such as friction@10s:leg=2,factor=2; may be repeated.",
        metavar="KIND@TIME:OPTION=VALUE,...",
    ),
]
Noise = Annotated[
    list[str] | None,
    option(
        "Standard deviation of white noise on coordinates, rates, forces, accelerometer, "
        "gyroscope, pose or attitude; may be repeated. pose sends the pose as a tracker has it.",
        metavar="FIELD=SI",
    ),
]
Listen = Annotated[
    str, option("Address for commands; port 0: any that is free.", metavar="HOST:PORT")
]
To = Annotated[
    list[str] | None,
    option(
        "Further receiver of measurements, beside the sender of commands; may be repeated.",
        metavar="HOST:PORT",
    ),
]
AllowRemote = Annotated[
    list[str] | None,
    option("Other computer that may take part; may be repeated.", metavar="HOST"),
]
Duration = Annotated[
    float | None, quantity_option("Time to play in s; default: until Ctrl-C.", "s")
]
Watchdog = Annotated[
    float,
    quantity_option("Time without a command in s, until it holds its position.", "s"),
]
Lockstep = Annotated[
    bool,
    option("No clock: each command advances the machine by one period.", "--lockstep"),
]
Priority = Annotated[bool, option("Ask the system for real-time priority.", "--priority")]
Log = Annotated[Path | None, file_option("Record all measurements as a log.")]


@app.command()
def emulate(
    machine: options.Machine,
    *,
    configuration: options.Configuration = None,
    values: Values = None,
    rate: Rate = 1000.0,
    fault: Faults = None,
    noise: Noise = None,
    listen: Listen = "127.0.0.1:5005",
    to: To = None,
    allow_remote: AllowRemote = None,
    engine: options.Engine = "analytic",
    duration: Duration = None,
    watchdog: Watchdog = 0.1,
    lockstep: Lockstep = False,
    priority: Priority = False,
    seed: options.Seed = 0,
    log: Log = None,
    replace: options.ReplaceFile = False,
) -> None:
    """Play a machine on a UDP link: commands in, measurements out; Ctrl-C ends it.

    \f
    Raises:
        InputError: an invalid value, a machine that does not take a parameter or a fault, or a log
            that exists or cannot be written.
    """
    from twin.analysis.platform import load
    from twin.basics.arrays import positive
    from twin.link.emulated import EmulatedMachine, parse_fault
    from twin.link.emulation import priority as realtime_priority

    check_files(log=(log, ".mcap", ".csv", ".parquet"))
    design = load(machine, configuration)
    emulated = EmulatedMachine(
        _true_machine(design, values or [], configuration),
        design=design,
        period=1.0 / positive(rate, "rate"),
        seed=seed,
        faults=[parse_fault(text) for text in fault or []],
        noise=settings_from(noise, "noise"),
        engine=engine,
        watchdog=watchdog,
    )
    end_time = float("inf") if duration is None else positive(duration, "duration")
    emulation = _emulation(emulated, listen, to or [], allow_remote or [])
    if log is not None:
        emulation.recording = _recording(emulated, log, replace)
    try:
        emulated.warm()
        with interruption() as is_interrupted, realtime_priority(priority):
            pace_text = "step by step" if lockstep else f"at {rate:g} Hz"
            address = emulation.link.address
            line(f"{design.name} in {engine} plays {pace_text} on udp://{address}", bold=True)
            line("Ctrl-C ends it")
            run_emulation = emulation.run_in_steps if lockstep else emulation.run
            run_emulation(end_time, _with_notices(emulation, is_interrupted))
    finally:  # before anything is printed: the terminal may be gone
        emulation.link.close()
        log_file = emulation.recording and emulation.recording.finish()
        if log_file:
            with suppress(OSError):
                line(f"wrote {log_file}")
    _print_summary(emulation, lockstep)
    emulated.close()


def _recording(emulated: EmulatedMachine, log: Path, replace: bool) -> Recording:
    """Create the file to which the measurements are written until the end, and print its name."""
    from twin.link.recording import Recording
    from twin.logs.recorder import LogRecorder

    recorder = LogRecorder(log, {"machine": emulated.platform.name}, replace=replace)
    line(f"measurements go to {recorder.part} until the end")
    return Recording(emulated.platform, emulated.period, recorder)


def _with_notices(emulation: Emulation, is_interrupted: Callable[[], bool]) -> Callable[[], bool]:
    """Return a function that prints refusals and failures of the log; returns whether to end."""
    notices = Notices()

    def lines() -> list[str]:
        recording, refused = emulation.recording, refused_lines(emulation.link.counts.reasons)
        return refused + fault_lines(recording.recorder if recording else None)

    def ended() -> bool:
        notices.show_due(lines)
        return is_interrupted()

    return ended


def _emulation(
    emulated: EmulatedMachine, listen: str, to: list[str], allowed: list[str]
) -> Emulation:
    """Return the emulated machine connected to its link."""
    from twin.link.emulation import Emulation
    from twin.link.transport import UdpLink, parse_address
    from twin.link.transport.address import check_allowed

    receivers = [parse_address(text, "to") for text in to]
    for receiver in receivers:
        check_allowed(receiver, allowed, "to")
    address, legs = parse_address(listen, "listen"), emulated.platform.n_actuators
    link = UdpLink(address, legs, "command", allowed=allowed)
    return Emulation(emulated, link, receivers=receivers)


def _true_machine(design: Platform, texts: list[str], configuration: str | None) -> Platform:
    """Return the emulated machine; its parameters differ from those the control unit knows."""
    from twin.analysis.platform import load
    from twin.basics.toml import flat_table, read_toml

    machine = design
    for text in texts:
        if not text.endswith(".toml"):
            machine = machine.with_(parameters=settings_from([text], "values"))
            continue
        content = read_toml(text)
        if {"extends", "base"} & content.keys():
            machine = load(text, configuration)
        else:
            machine = machine.with_(parameters=flat_table(content))
    if machine.n_actuators != design.n_actuators:
        raise InputError("values", f"must be of a machine with {design.n_actuators} legs")
    return machine


def _print_summary(emulation: Emulation, lockstep: bool) -> None:
    """Print how the machine ran, and what was refused."""
    machine, pace = emulation.machine, emulation.pace
    rows: list[tuple[Cell, ...]] = [("time of the machine", f"{machine.time:.6g}", "s")]
    if not lockstep:
        rows += [
            ("periods", pace.periods, "1"),
            ("missed deadlines", pace.missed, "1"),
            ("longest delay of a period", 1e3 * pace.worst, "ms"),
            ("99.9 % of periods delayed less than", 1e3 * pace.delay(0.999), "ms"),
        ]
    table(("quantity", "value", "unit"), rows)
    line(f"commands: {emulation.link.counts}")
    for text in refused_lines(emulation.link.counts.reasons):
        line(text)
    if machine.stopped:
        line(f"stopped: {machine.stopped}", bold=True)
