"""Live table of `twin shadow`: state, residuals of the legs, alarms, samples, durations."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from twin.basics.files import append_text
from twin.cli.console import MAX_WIDTH
from twin.errors import InputError

if TYPE_CHECKING:
    from twin.logs.recorder import LogRecorder
    from twin.shadow.detectors import Alarm
    from twin.shadow.session import ShadowSession

BAR_WIDTH = 20
"""Width of a bar in characters; a full bar is at the threshold of the alarm."""

MAX_ALARMS_SHOWN = 8
"""Maximum number of alarms that are shown."""

ALARM_TITLES = "time [s],kind,leg,size,unit,note,look at,raised [UTC]"
"""First line of a table of alarms; times are those of the machine's clock."""


def live_table(session: ShadowSession) -> RenderableType:
    """Return the live view of a session for the console."""
    shadow, state = session.shadow, session.state
    if state is None:
        return Text("waiting for samples")
    coordinate_unit, force_unit = shadow.machine.coordinate_unit, shadow.machine.force_unit
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, width=min(MAX_WIDTH, 88))
    for title in (
        "leg",
        f"coordinate [{coordinate_unit}]",
        f"innovation [u{coordinate_unit}]",
        f"unexplained [{force_unit}]",
    ):
        table.add_column(title, justify="right")
    table.add_column("residual per threshold")
    for leg in range(len(state.coordinates)):
        ratio = float(state.residuals[leg])
        table.add_row(
            str(leg + 1),
            f"{state.coordinates[leg]:.6f}",
            f"{1e6 * state.innovation[leg]:.2f}",
            f"{state.disturbance[leg]:.1f}",
            ratio_bar(ratio),
        )
    return Group(
        Text(f"{shadow.machine.name} at {state.time:.1f} s: {state.phase}", style="bold"),
        table,
        *(Text(line) for line in counts(session)),
        *(Text(text) for text in [*refusals(session), *fault_lines(session.recorder)]),
        *(Text(str(alarm), style="bold red") for alarm in session.alarms[-MAX_ALARMS_SHOWN:]),
    )


def ratio_bar(ratio: float) -> Text:
    """Return a bar with its number, red from the threshold on."""
    style = "red" if ratio >= 1.0 else "yellow" if ratio >= 0.5 else "green"
    filled_width = min(BAR_WIDTH, round(BAR_WIDTH * ratio))
    return Text(
        "#" * filled_width + "." * (BAR_WIDTH - filled_width) + f" {min(ratio, 999.0):.2f}",
        style=style,
    )


def counts(session: ShadowSession) -> list[str]:
    """Return lines about learning, samples and update times."""
    from twin.shadow.shadow import WATCHING_STATE

    shadow = session.shadow
    median, near_maximum = (1e6 * value for value in session.durations(50.0, 99.9))
    learning_lines = []
    if session.is_shortened:
        learning_lines = [
            f"the stream ended while the twin learned: its first {shadow.learning:.3g} s of motion "
            "count as healthy and the rest was judged; slow faults that were there from the "
            "beginning do not show, and so short a learning time makes false alarms likelier"
        ]
    elif shadow.phase != WATCHING_STATE:
        learning_lines = [
            f"still {shadow.phase}: {shadow.learned:.3g} s of {shadow.learning:g} s of motion are "
            "learned, and until then only encoders and dead sensors are judged"
        ]
    return [
        *learning_lines,
        f"samples: {session.updates}, missed {shadow.missed}, late {shadow.late}, "
        f"model put beside the machine {shadow.restarts} times; link: {session.source.counts}",
        f"update: median {median:.0f} us, 99.9 % within {near_maximum:.0f} us",
    ]


def refusals(session: ShadowSession) -> list[str]:
    """Return a line for each reason for which samples or estimates were left out."""
    check, telemetry = session.shadow.check, session.telemetry
    unsent = {} if telemetry is None else telemetry.counts.reasons
    return [
        *refused_lines(session.source.counts.reasons),
        *refused_lines(check.refused, check.latest),
        *(f"telemetry: {number} {reason}" for reason, number in unsent.items()),
    ]


def fault_lines(*writers: LogRecorder | AlarmTable | None) -> list[str]:
    """Return lines about files that cannot be written at present."""
    return [f"{writer.fault}; it is tried again" for writer in writers if writer and writer.fault]


def refused_lines(
    refusals: Mapping[str, int], latest: Mapping[str, str] | None = None
) -> list[str]:
    """Return lines with the reason of each refusal, its count, and the latest case."""
    latest = latest or {}
    return [
        f"refused: {number} {reason}" + (f" (last: {latest[reason]})" if reason in latest else "")
        for reason, number in refusals.items()
    ]


class AlarmTable:
    """Alarms as rows of a CSV file, added to those of earlier runs; what cannot be written waits.

    Attributes:
        fault: why alarms are not in the file yet; empty where all are.
    """

    def __init__(self, path: Path | None) -> None:
        """Begin the file where there is none; without a path nothing is written.

        Raises:
            InputError: a file that is no table of alarms, or cannot be written to.
        """
        self._path, self.fault, self._pending_text = path, "", ""
        if path is None:
            return
        try:
            text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        except OSError as error:
            raise InputError("alarms", f"cannot read {path} ({error.strerror})") from None
        if text and text.splitlines()[0] != ALARM_TITLES:
            raise InputError("alarms", f"{path} is no table of alarms; name another file")
        if not text.endswith("\n"):  # a new file, or one whose last row was cut off
            self._pending_text = "\n" if text else f"{ALARM_TITLES}\n"
        self.add([])
        if self.fault:
            raise InputError("alarms", self.fault)

    def add(self, alarms: Iterable[Alarm]) -> None:
        """Add alarms to the file, together with those that could not be written before."""
        if self._path is None:
            return
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(map(_alarm_row, alarms))
        self._pending_text += text.getvalue()
        try:
            append_text(self._path, self._pending_text)
            self._pending_text = self.fault = ""
        except OSError as error:
            self.fault = f"cannot write {self._path} ({error.strerror})"


def _alarm_row(alarm: Alarm) -> tuple[object, ...]:
    leg = "" if alarm.leg is None else alarm.leg
    time_raised = datetime.now(UTC).isoformat(timespec="seconds")
    kind_and_size = (alarm.time, alarm.kind, leg, f"{alarm.size:.6g}", alarm.unit)
    return (*kind_and_size, alarm.note, alarm.parts_to_check, time_raised)
