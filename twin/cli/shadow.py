"""The command `shadow`."""

from __future__ import annotations

import time as clock
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twin.basics.files import write_text
from twin.basics.optional import optional
from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, paragraph
from twin.cli.tables.shadow import alarm_rows, counts, live_table
from twin.cli.values import check_files

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.link.protocol import Sample
    from twin.link.transport.source import Source
    from twin.page.shadow_page import ShadowWindow
    from twin.plant.signals import Mode
    from twin.shadow.session import ShadowSession
    from twin.shadow.thresholds import Thresholds

SILENCE = 0.2
"""[s] between two looks at whether samples come."""

REFRESH = 0.25
"""[s] between two live tables."""

FromSource = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="udp://HOST:PORT to listen on, replay:FILE of a log, or opcua://HOST:PORT/PATH.",
    ),
]
ToTelemetry = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Send the estimates there, as udp://HOST:PORT."),
]
Remote = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="Take samples of this host too; may be repeated."),
]
Mapped = Annotated[
    Path | None, options.file_option("Mapping of channels or nodes to signals, TOML.", "--mapping")
]
Limits = Annotated[
    Path | None,
    options.file_option(
        "Thresholds of the alarms, TOML; derived and written there where it does not exist."
    ),
]
Ends = Annotated[
    float | None,
    typer.Option("--for", metavar="SECONDS", help="End after so many seconds of the machine."),
]

Viewed = Annotated[
    bool, typer.Option("--view", help="Show machine and twin on a page in the browser.")
]


@app.command()
def shadow(
    machine: options.Machine,
    *,
    source: FromSource,
    configuration: options.Configuration = "hardware",
    rate: Annotated[float, typer.Option(help="Samples per second [Hz], at least 200.")] = 1000.0,
    learning: Annotated[
        float, typer.Option(help="Seconds in which the machine is taken for healthy.")
    ] = 20.0,
    thresholds: Limits = None,
    telemetry: ToTelemetry = None,
    allow_remote: Remote = None,
    mapping: Mapped = None,
    ring: Annotated[float, typer.Option(help="Seconds that are kept for --log.")] = 120.0,
    log: Annotated[
        Path | None, options.file_option("Write the last seconds as .mcap, .parquet or .csv.")
    ] = None,
    alarms: Annotated[Path | None, options.file_option("Write the alarms as CSV.")] = None,
    seconds: Ends = None,
    view: Viewed = False,
    port: options.Port = None,
    no_browser: options.NoBrowser = False,
) -> None:
    """Run the twin beside a machine, live or from a log; exit code 1 after an alarm.

    \f
    Raises:
        InputError: an invalid value, or a source of no use.
    """
    from twin.analysis.platform import load
    from twin.link.transport.source import open_source, open_telemetry
    from twin.logs import LogMapping
    from twin.shadow.session import ShadowSession
    from twin.shadow.shadow import Shadow

    check_files(log=(log, ".mcap", ".parquet", ".csv"), alarms=(alarms, ".csv"))
    platform, remote = load(machine, configuration), allow_remote or ()
    known = None if mapping is None else LogMapping.read(mapping)
    with ExitStack() as opened:
        samples = open_source(source, platform, mapping=known, allow_remote=remote)
        opened.callback(samples.close)
        sent = None
        if telemetry is not None:
            sent = open_telemetry(telemetry, platform, allow_remote=remote)
            opened.callback(sent.close)
        first = _first(samples)
        limits = _thresholds(platform, rate, first, thresholds)
        forced = "command_forces" in first.values and "command_rates" not in first.values
        mode: Mode | None = "force" if forced else None
        watch = Shadow(platform, rate, thresholds=limits, mode=mode, learning=learning)
        session = ShadowSession(watch, samples, ring=ring, telemetry=sent)
        window = None
        if view:
            from twin.page.shadow_page import ShadowWindow

            optional("viser")
            window = ShadowWindow(platform, port, browser=not no_browser)
            opened.callback(window.close)
            line(f"page: {window.url}", bold=True)
        with suppress(KeyboardInterrupt):
            _run(session, first, alarms, seconds, window)
    _finish(session, alarms, log)
    raise typer.Exit(int(bool(watch.alarms)))


def _finish(session: ShadowSession, alarms: Path | None, log: Path | None) -> None:
    """Judge a stream that was too short to learn from, print the counts, and write the log."""
    from twin.logs import write_log

    if session.judge_short():
        found = session.shadow.alarms
        for alarm in found:
            paragraph(f"{alarm}; look at {alarm.look_at}")
        if alarms is not None:
            write_text(alarms, alarm_rows(found))
    for text in counts(session):
        paragraph(text)
    if log is not None and session.ring is not None:
        line(f"wrote {write_log(session.ring.log(), log)}")


def _first(source: Source) -> Sample:
    """Wait for the first sample of a source and return it.

    Raises:
        InputError: it ended before.
    """
    from twin.errors import InputError

    line("waiting for samples")
    while (sample := source.receive(SILENCE)) is None:
        if source.ended:
            raise InputError("source", "ended before its first sample")
    return sample


def _thresholds(platform: Platform, rate: float, first: Sample, path: Path | None) -> Thresholds:
    """Return the thresholds of a file, or derive them for the channels of a sample."""
    from twin.shadow.derive import (
        CHANNELS,
        derive_thresholds,
        read_thresholds,
        write_thresholds,
    )

    if path is not None and path.exists():
        return read_thresholds(path)
    channels = [name for name in CHANNELS if name in first.values]
    line(f"deriving thresholds from machines that measure {', '.join(['coordinates', *channels])}")
    found = derive_thresholds(platform, rate, channels=channels)
    if path is not None:
        line(f"wrote {write_thresholds(found, path)}")
    return found


def _run(
    session: ShadowSession,
    first: Sample,
    path: Path | None,
    seconds: float | None,
    window: ShadowWindow | None,
) -> None:
    """Feed the shadow until the source ends; show it on a terminal, print alarms elsewhere."""
    from rich.console import Console
    from rich.live import Live

    console, shown, due = Console(), 0, 0.0
    if path is not None:
        write_text(path, alarm_rows([]))
    session.take(first)
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while not session.source.ended:
            session.receive(SILENCE)
            if window is not None:
                window.offer(session)
            found, state = session.shadow.alarms, session.state
            if len(found) > shown:
                if path is not None:
                    write_text(path, alarm_rows(found))
                for alarm in found[shown:] if not console.is_terminal else ():
                    paragraph(f"{alarm}; look at {alarm.look_at}")
                shown = len(found)
            if console.is_terminal and clock.monotonic() >= due:
                live.update(live_table(session), refresh=True)
                due = clock.monotonic() + REFRESH
            if seconds is not None and state is not None and state.time - first.time >= seconds:
                return
