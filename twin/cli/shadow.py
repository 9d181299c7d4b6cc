"""The command `shadow`."""

from __future__ import annotations

import time as clock
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twin.basics.optional import optional
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import Notices, interruption, line, paragraph
from twin.cli.options import file_option, option
from twin.cli.tables.shadow import (
    AlarmTable,
    counts,
    fault_lines,
    live_table,
    refusals,
    refused_lines,
)
from twin.cli.values import check_files, quantity_option
from twin.errors import InputError

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.link.protocol import Sample
    from twin.link.transport.source import Source
    from twin.logs.recorder import LogRecorder
    from twin.page.shadow_page import ShadowWindow
    from twin.shadow.session import ShadowSession
    from twin.shadow.thresholds import Thresholds

POLL_INTERVAL = 0.2
"""[s] Longest wait for a sample before the source is checked again."""

REFRESH_INTERVAL = 0.25
"""[s] Interval between two updates of the live table."""

FromSource = Annotated[
    str,
    option(
        "udp://HOST:PORT to listen on, replay:FILE of a log, or opcua://HOST:PORT/PATH.",
        metavar="ADDRESS",
    ),
]
ToTelemetry = Annotated[
    str | None,
    option("Send the estimates there, as udp://HOST:PORT.", metavar="ADDRESS"),
]
Remote = Annotated[
    list[str] | None,
    option("Take samples of this host too; may be repeated.", metavar="HOST"),
]
Mapped = Annotated[
    Path | None, file_option("Mapping of channels or nodes to signals, TOML.", "--mapping")
]
Limits = Annotated[
    Path | None,
    file_option(
        "Sizes that are worth an alarm, TOML; a file that does not exist is written with defaults."
    ),
]
Rate = Annotated[float, quantity_option("Samples per second in Hz, at least 200.", "Hz")]
Learning = Annotated[
    float,
    quantity_option("Time in s in which the machine is taken for healthy.", "s"),
]
Ring = Annotated[float, quantity_option("Time in s that is kept for --log.", "s")]
Duration = Annotated[
    float | None,
    quantity_option("Time of the machine in s after which the shadow ends; default: never.", "s"),
]

Page = Annotated[bool, option("Show machine and twin on a page in the browser.", "--page")]


@app.command()
def shadow(
    machine: options.Machine,
    *,
    source: FromSource,
    configuration: options.Configuration = "hardware",
    rate: Rate = 1000.0,
    learning: Learning = 20.0,
    thresholds: Limits = None,
    telemetry: ToTelemetry = None,
    allow_remote: Remote = None,
    mapping: Mapped = None,
    ring: Ring = 120.0,
    log: Annotated[
        Path | None, file_option("Record the last measurements as a log: .mcap, .parquet or .csv.")
    ] = None,
    replace: options.ReplaceFile = False,
    alarms: Annotated[Path | None, file_option("Add the alarms to a CSV file.")] = None,
    duration: Duration = None,
    page: Page = False,
    port: options.Port = None,
    no_browser: options.NoBrowser = False,
) -> None:
    """Run the twin beside a machine, live or from a log; exit code 1 after an alarm.

    \f
    Raises:
        InputError: an invalid value, a source of no use, or a file that exists or cannot be
            written.
    """
    from twin.analysis.platform import load
    from twin.link.transport.source import open_source, open_telemetry
    from twin.logs import LogMapping
    from twin.shadow.session import ShadowSession
    from twin.shadow.shadow import Shadow

    check_files(log=(log, ".mcap", ".parquet", ".csv"), alarms=(alarms, ".csv"))
    platform, remote = load(machine, configuration), allow_remote or ()
    log_mapping = None if mapping is None else LogMapping.read(mapping)
    with ExitStack() as resources:
        samples = open_source(source, platform, mapping=log_mapping, allow_remote=remote)
        resources.callback(samples.close)
        estimate_sender = None
        if telemetry is not None:
            estimate_sender = open_telemetry(telemetry, platform, allow_remote=remote)
            resources.callback(estimate_sender.close)
        _check_targets(source, log, alarms)
        alarm_table = AlarmTable(alarms)
        recorder = None if log is None else _recorder(log, platform, ring, replace)
        if recorder is not None:
            resources.callback(recorder.close)
        alarm_limits = _thresholds(platform, thresholds)
        first_sample = _first(samples, platform)
        is_replayed = source.startswith("replay:")  # whose samples have their own times
        shadow_model = Shadow(
            platform,
            rate,
            thresholds=alarm_limits,
            mode=None if log_mapping is None else log_mapping.mode,
            delays=None if log_mapping is None or is_replayed else log_mapping.delays,
            learning=learning,
        )
        session = ShadowSession(shadow_model, samples, telemetry=estimate_sender, recorder=recorder)
        window = _window(platform, port, not no_browser, resources) if page else None
        _run(session, first_sample, alarm_table, duration, window)
    _finish(session, alarm_table)
    raise typer.Exit(int(bool(session.alarms)))


def _window(
    platform: Platform, port: int | None, browser: bool, exit_stack: ExitStack
) -> ShadowWindow:
    """Open the page, and print its address."""
    from twin.page.shadow_page import ShadowWindow

    optional("viser")
    window = ShadowWindow(platform, port, browser=browser)
    exit_stack.callback(window.close)
    line(f"page: {window.url}", bold=True)
    return window


def _check_targets(source: str, log: Path | None, alarms: Path | None) -> None:
    """Raise InputError where a file would be written to that is replayed, or written twice."""
    from twin.logs.recorder import files_of

    if log is not None and alarms is not None and log.resolve() == alarms.resolve():
        raise InputError("alarms", f"{alarms} is the file of the log; name another one")
    scheme, _, replayed = source.partition(":")
    if scheme != "replay":
        return
    targets = [("alarms", alarms), *(("log", file) for file in files_of(log) if log is not None)]
    for name, path in targets:
        if path is not None and path.exists() and path.samefile(replayed):
            raise InputError(name, f"{path} is the file that is replayed; name another one")


def _recorder(log: Path, platform: Platform, ring: float, replace: bool) -> LogRecorder:
    """Create the file to which samples are written until the end, and print its name."""
    from twin.basics.arrays import positive
    from twin.logs.recorder import LogRecorder

    kept_time = positive(ring, "ring")
    recorder = LogRecorder(
        log, {"machine": platform.name, "engine": "shadow"}, keep=kept_time, replace=replace
    )
    line(f"samples go to {recorder.part} until the end")
    return recorder


def _finish(session: ShadowSession, alarms: AlarmTable) -> None:
    """Judge a stream that was too short to learn from, and print counts and faults.

    Raises:
        InputError: alarms are not in their file.
    """
    alarms_shown = len(session.alarms)
    if session.judge_short():
        alarms.add(session.alarms[alarms_shown:])
        for alarm in session.alarms[alarms_shown:]:
            paragraph(f"{alarm}; look at {alarm.parts_to_check}")
    alarms.add([])
    for text in [*counts(session), *refusals(session)]:
        paragraph(text)
    if alarms.fault:
        raise InputError("alarms", alarms.fault)


def _first(source: Source, platform: Platform) -> Sample:
    """Wait for the first sample of a source that has coordinates and return it.

    Raises:
        InputError: it ended before.
    """
    from twin.shadow.shadow import SampleCheck

    check, notices = SampleCheck(platform), Notices()

    def problem_lines() -> list[str]:
        return [*refused_lines(source.counts.reasons), *refused_lines(check.refused, check.latest)]

    line("waiting for samples")
    while True:
        sample = source.receive(POLL_INTERVAL)
        usable_sample = None if sample is None else check.usable(sample)
        if usable_sample is not None and "coordinates" in usable_sample.values:
            return usable_sample
        if usable_sample is not None:
            check.refuse("samples without coordinates", f"at {usable_sample.time:.6g} s")
        if source.ended:
            raise InputError(
                "source", "; ".join(["ended before its first sample", *problem_lines()])
            )
        notices.show_due(problem_lines)


def _thresholds(platform: Platform, path: Path | None) -> Thresholds:
    """Return the thresholds of a file, or those of the machine, written there."""
    from twin.shadow.thresholds import default_thresholds, read_thresholds, write_thresholds

    if path is not None and path.exists():
        return read_thresholds(path)
    thresholds = default_thresholds(platform)
    if path is not None:
        line(f"wrote {write_thresholds(thresholds, path)}")
    return thresholds


def _run(
    session: ShadowSession,
    first: Sample,
    table: AlarmTable,
    duration: float | None,
    window: ShadowWindow | None,
) -> None:
    """Feed the shadow until its source ends, or an end is requested; print alarms and refusals.

    On a terminal a live table shows them. Then write the log, whatever has ended it.
    """
    from rich.console import Console
    from rich.live import Live

    console, alarms_shown, next_refresh, notices = Console(), 0, 0.0, Notices()
    live = Live(console=console, auto_refresh=False, transient=False)
    try:
        with interruption() as is_interrupted, live:
            session.process(first)
            while not (session.source.ended or is_interrupted()):
                session.receive(POLL_INTERVAL)
                if window is not None:
                    window.offer(session)
                if len(session.alarms) > alarms_shown:
                    new_alarms, alarms_shown = session.alarms[alarms_shown:], len(session.alarms)
                    table.add(new_alarms)
                    for alarm in new_alarms if not console.is_terminal else ():
                        paragraph(f"{alarm}; look at {alarm.parts_to_check}")
                if console.is_terminal and clock.monotonic() >= next_refresh:
                    live.update(live_table(session), refresh=True)
                    next_refresh = clock.monotonic() + REFRESH_INTERVAL
                elif not console.is_terminal:
                    notices.show_due(
                        lambda: [*refusals(session), *fault_lines(session.recorder, table)]
                    )
                if duration is not None and session.elapsed >= duration:
                    return
    finally:  # before anything is printed: the terminal may be gone
        log_file = session.finish()
        if log_file is not None:
            with suppress(OSError):
                line(f"wrote {log_file}")
