"""The console command `twin`: a file per command, which imports its libraries when it runs."""

from twin.cli import (
    bench,
    calibrate,
    cue,
    emulate,
    evaluate,
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
    warm,
    workspace,
)
from twin.cli.application import app, one_line

__all__ = ["app", "main", "one_line"]


def main() -> None:
    """Run the console command."""
    app(prog_name="twin")
