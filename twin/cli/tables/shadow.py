"""Live table of `twin shadow`: state, residuals of the legs, alarms, samples, durations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from twin.cli.console import WIDTH

if TYPE_CHECKING:
    from twin.shadow.alarm import Alarm
    from twin.shadow.session import ShadowSession

BAR = 20
"""Columns of a bar; an alarm begins at the end."""

LAST = 8
"""Alarms that are shown."""


def live_table(session: ShadowSession) -> RenderableType:
    """Return what the console shows of a session."""
    shadow, state = session.shadow, session.state
    if state is None:
        return Text("waiting for samples")
    unit, force = shadow.machine.coordinate_unit, shadow.machine.force_unit
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, width=min(WIDTH, 88))
    for title in ("leg", f"coordinate [{unit}]", f"innovation [u{unit}]", f"unexplained [{force}]"):
        table.add_column(title, justify="right")
    table.add_column("residual per threshold")
    for leg in range(len(state.coordinates)):
        ratio = float(state.residuals[leg])
        table.add_row(
            str(leg + 1),
            f"{state.coordinates[leg]:.6f}",
            f"{1e6 * state.innovation[leg]:.2f}",
            f"{state.disturbance[leg]:.1f}",
            bar(ratio),
        )
    return Group(
        Text(f"{shadow.machine.name} at {state.time:.1f} s: {state.phase}", style="bold"),
        table,
        *(Text(line) for line in counts(session)),
        *(Text(str(alarm), style="bold red") for alarm in shadow.alarms[-LAST:]),
    )


def bar(ratio: float) -> Text:
    """Return a bar with its number, red from the threshold on."""
    style = "red" if ratio >= 1.0 else "yellow" if ratio >= 0.5 else "green"
    full = min(BAR, round(BAR * ratio))
    return Text("#" * full + "." * (BAR - full) + f" {min(ratio, 999.0):.2f}", style=style)


def counts(session: ShadowSession) -> list[str]:
    """Return lines about learning, samples and durations."""
    from twin.shadow.shadow import LEARNED

    shadow = session.shadow
    half, most = (1e6 * value for value in session.durations(50.0, 99.9))
    learning = []
    if session.shortened:
        learning = [
            f"the stream ended while the twin learned: its first {shadow.learning:.3g} s of motion "
            "count as healthy and the rest was judged; slow faults that were there from the "
            "beginning do not show, and so short a learning time makes false alarms likelier"
        ]
    elif shadow.phase != LEARNED:
        learning = [
            f"still {shadow.phase}: {shadow.learned:.3g} s of {shadow.learning:g} s of motion are "
            "learned, and until then only encoders and dead sensors are judged"
        ]
    return [
        *learning,
        f"samples: {session.updates}, missed {shadow.missed}, late {shadow.late}, "
        f"model put beside the machine {shadow.restarts} times; link: {session.source.counts}",
        f"update: median {half:.0f} us, 99.9 % within {most:.0f} us",
    ]


def alarm_rows(alarms: list[Alarm]) -> str:
    """Return alarms as CSV, the first line with the titles."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("time [s]", "kind", "leg", "size", "unit", "note", "look at"))
    for alarm in alarms:
        where = "" if alarm.leg is None else alarm.leg
        size = f"{alarm.size:.6g}"
        writer.writerow(
            (alarm.time, alarm.kind, where, size, alarm.unit, alarm.note, alarm.look_at)
        )
    return text.getvalue()
