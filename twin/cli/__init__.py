"""The console command `twin`: a file per command, which imports its libraries when it runs."""

from twin.cli import (
    calibrate,
    cue,
    emulate,
    excite,
    feasible,
    frequency,
    identify,
    imu,
    logs,
    machines,
    new,
    payload,
    record,
    render,
    setpoints,
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


def main() -> None:
    """Run the console command."""
    app(prog_name="twin")
