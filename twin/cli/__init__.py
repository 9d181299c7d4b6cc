"""The console command `twin`: a file per command, which imports its libraries when it runs."""

from typer.models import CommandInfo

from twin.cli import (
    calibrate,
    cue,
    design,
    emulate,
    excite,
    feasible,
    frequency,
    identify,
    logs,
    machines,
    new,
    payload,
    record,
    render,
    shadow,
    simulate,
    sweep,
    track,
    train,
    tune,
    validate,
    view,
)
from twin.cli.application import app, one_line

__all__ = ["app", "main", "one_line"]

COMMAND_GROUPS = {
    "Machines": ("list", "info", "new", "export", "warm"),
    "Design": ("design", "size", "feasible", "payload", "workspace", "tune", "frequency"),
    "Simulate": ("simulate", "track", "cue", "sweep", "view", "render", "setpoints"),
    "Learn": ("train", "evaluate", "record"),
    "Real machine": (
        "logs",
        "excite",
        "identify",
        "calibrate",
        "shadow",
        "emulate",
        "imu",
    ),
    "Check": ("validate",),
}
"""Commands by the group in which `twin --help` lists them, in its order."""


def _name(command: CommandInfo) -> str:
    """Return the name of a registered command."""
    return command.name or str(getattr(command.callback, "__name__", ""))


groups = {name: group for group, names in COMMAND_GROUPS.items() for name in names}
app.registered_commands.sort(key=lambda command: [*groups].index(_name(command)))
for command in app.registered_commands:
    command.rich_help_panel = groups[_name(command)]


def main() -> None:
    """Run the console command."""
    app(prog_name="twin")
