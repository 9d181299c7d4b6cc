"""The command `calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, show
from twin.cli.options import argument, file_option, option
from twin.cli.values import check_files, in_unit, quantity_option, write

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.calibration import Calibration

Poses = Annotated[
    Path | None,
    argument("Log with a measured pose per row; see the guide.", metavar="[POSES]"),
]
Mapping = Annotated[
    Path | None, file_option("TOML file that maps columns to signals, as for logs.")
]
FramesFree = Annotated[
    Literal["both", "tracker", "target", "known"],
    option("Frames that are not known: the tracker's, the target's on the platform."),
]
PositionNoise = Annotated[
    float | None,
    quantity_option("Standard deviation of measured positions; default: 20 um.", "m"),
]
AngleNoise = Annotated[
    float | None,
    quantity_option("Standard deviation of measured angles; default: 50 urad.", "rad"),
]
CoordinateNoise = Annotated[
    float | None,
    quantity_option("The same of legs' coordinates; default: 1 um or urad.", "m", "rad"),
]
Tolerance = Annotated[
    float | None,
    quantity_option("Standard deviation of joints as made; default: not used.", "m"),
]
Robust = Annotated[bool, option("Leave out poses that are wrong beyond noise.", "--robust")]
Holdout = Annotated[
    float, option("Fraction of the poses that is kept for checking.", min=0.0, max=0.5)
]
PlanCount = Annotated[
    int | None, option("Propose N poses to measure instead.", "--plan", metavar="N")
]
Measured = Annotated[str, option("With --plan: components that will be measured, such as x,y,z.")]
Out = Annotated[
    Path | None,
    file_option("Write the calibrated machine as .toml, or the planned poses as .csv."),
]
Offsets = Annotated[
    Path | None, file_option("Write the offsets of the legs as a mapping file for logs.")
]
Visits = Annotated[
    Path | None, file_option("With --plan: write a motion through all poses, for track.")
]


@app.command()
def calibrate(
    machine: options.Machine,
    poses: Poses = None,
    *,
    mapping: Mapping = None,
    frames: FramesFree = "both",
    position_noise: PositionNoise = None,
    angle_noise: AngleNoise = None,
    coordinate_noise: CoordinateNoise = None,
    tolerance: Tolerance = None,
    robust: Robust = False,
    holdout: Holdout = 0.2,
    plan: PlanCount = None,
    measured: Measured = "x,y,z,yaw,pitch,roll",
    configuration: options.Configuration = None,
    out: Out = None,
    offsets: Offsets = None,
    visits: Visits = None,
    report: options.Report = None,
    replace: options.ReplaceFile = False,
) -> None:
    """Find errors of joints and offsets from measured poses, or with --plan the poses to measure.

    \f
    Raises:
        InputError: options that cannot be used together, or an invalid value.
    """
    from twin.analysis.platform import load
    from twin.calibration.report import calibration_results
    from twin.errors import InputError

    ending = ".csv" if plan is not None else ".toml"
    check_files(
        reads=(machine, poses, mapping),
        replace=replace,
        report=report,
        out=(out, ending),
        offsets=(offsets, ".toml"),
        visits=(visits, ".csv"),
    )
    if (poses is None) == (plan is None):
        raise InputError("poses", "give a file with measured poses, or --plan N to propose some")
    if plan is None and visits is not None:
        raise InputError("visits", "is a motion through the poses of --plan; give N")
    for name, path in (("offsets", offsets), ("report", report)):
        if plan is not None and path is not None:
            raise InputError(name, "needs measured poses; leave --plan out")
    platform = load(machine, configuration)
    in_unit(coordinate_noise, "coordinate_noise", platform.coordinate_unit, "that of the legs")
    noise = (position_noise, angle_noise, coordinate_noise)
    if plan is not None:
        names = tuple(part.strip() for part in measured.split(","))
        settings = {"frames": frames, "measured": names, "tolerance": tolerance}
        _propose(platform, plan, settings, noise, out, visits)
    elif poses is not None:
        settings = {"frames": frames, "tolerance": tolerance, "robust": robust, "holdout": holdout}
        calibration = _calibrate(platform, poses, mapping, settings, noise)
        show(calibration_results(calibration), report)
        if out is not None:
            write(out, _machine_text(calibration, machine, poses, out))
        if offsets is not None:
            from twin.calibration.calibration import offsets_text

            write(offsets, offsets_text(calibration))


def _calibrate(
    platform: Platform,
    poses: Path,
    mapping: Path | None,
    settings: dict[str, Any],
    noise: tuple[float | None, ...],
) -> Calibration:
    """Return the calibration by the poses in a file."""
    from twin.calibration import calibrate, read_poses
    from twin.calibration.measured import NOISE_NAMES
    from twin.logs import LogMapping

    log_mapping = None if mapping is None else LogMapping.read(mapping)
    noise_by_name = dict(zip(NOISE_NAMES, noise, strict=True))
    measured_poses = read_poses(poses, platform, log_mapping, **noise_by_name)
    return calibrate(platform, measured_poses, **settings)


def _propose(
    platform: Platform,
    count: int,
    settings: dict[str, Any],
    noise: tuple[float | None, ...],
    out: Path | None,
    visits: Path | None,
) -> None:
    """Print the poses to measure and the accuracy to expect; write them to files."""
    from twin.calibration.measured import DEFAULT_NOISE
    from twin.calibration.pose_plan import plan, write_table, write_visits
    from twin.calibration.report import plan_results

    position, angle, coordinate = (
        default if value is None else value
        for value, default in zip(noise, DEFAULT_NOISE, strict=True)
    )
    pose_plan = plan(platform, count, noise=(position, angle, coordinate), **settings)
    show(plan_results(pose_plan, platform))
    if out is not None:
        line(f"wrote {write_table(pose_plan, platform, out)}")
    if visits is not None:
        line(f"wrote {write_visits(pose_plan, platform, visits)}")


def _machine_text(calibration: Calibration, machine: str, poses: Path, out: Path) -> str:
    """Return the text of the calibrated machine's file, with a note on its origin."""
    import hashlib
    from datetime import UTC, datetime

    from twin.calibration.calibration import machine_text

    digest = hashlib.sha256(poses.read_bytes()).hexdigest()[:12] if poses.is_file() else "a folder"
    date = datetime.now(UTC).date()
    note = f"twin calibrate: {len(calibration.used)} poses of {poses.name} ({digest}), {date}"
    return machine_text(calibration, machine, note, out)
