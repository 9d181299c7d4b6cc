"""Statements of the thesis about its drives, beside their values at the leg."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.plant import actuation as column
from twin.machine.hardware.drive import AnyDrive, ScrewDrive
from twin.validation.published.papers import THESIS
from twin.validation.results import Statement

INCH, POUND = 0.0254, 4.4482216152605
"""[m], [N]"""

PRINTED = {
    "armature inertia": (0.00416 * POUND * INCH, 4.7e-4, 5e-6, "kg m2"),
    "friction torque": (2.00 * POUND * INCH, 0.23, 5e-3, "N m"),
    "damping constant": (1.23 * POUND * INCH, 0.14, 5e-3, "N m/krpm"),
    "brake torque, dry": (78.0 * POUND * INCH, 8.81, 5e-3, "N m"),
}
"""In lbf in and lbf in s2 as printed beside SI; half the last printed digit."""

RATED_TORQUE, RATED_FORCE = 3.03, 2998.0
"""[N m], [N] of the two-stack GSX30-1002, figure B.1."""


def thesis_statements(drive: AnyDrive, row: FloatArray) -> tuple[Statement, ...]:
    """Return the thesis' statements about its motors beside ours."""
    assert isinstance(drive, ScrewDrive)
    agree = all(abs(inches - si) <= slack for inches, si, slack, _ in PRINTED.values())
    ours = ", ".join(
        f"{name} {inches:.3g} {unit}" for name, (inches, _, _, unit) in PRINTED.items()
    )
    lossless = RATED_TORQUE * drive.ratio
    reflected = (
        f"{row[column.INERTIA]:.1f} kg, {row[column.FRICTION]:.1f} N and "
        f"{row[column.VISCOUS]:.1f} N s/m at the leg"
    )
    top = 3000.0 / 60.0 * drive.lead
    return (
        THESIS["motor_data"].judged(f"From inches and pounds: {ours}. {reflected}.", agree),
        THESIS["motor_speed"].judged(
            f"3000 rpm on the lead make {1e3 * top:.1f} mm/s.", abs(top - 0.254) < 5e-4
        ),
        THESIS["motor_force"].judged(
            f"Without losses {lossless:.0f} N: the rating leaves {RATED_FORCE / lossless:.2f} of "
            "it. 3073 N is taken as what the motor gives at the leg, before its own friction.",
            abs(lossless - RATED_FORCE) < 0.01 * RATED_FORCE,
            "the data sheet's rating holds an efficiency of screw and motor that it does not "
            "state; the drive has dry and viscous friction in its place, no loss in proportion to "
            "the load, and 3073 N is no number of figure B.1",
        ),
        THESIS["pure_delay"].not_given(
            f"All {1e3 * drive.delay:g} ms are a delay of the electronics here; stiction comes on "
            "top as the time an effort needs to reach what breaks the motor away.",
            "the thesis does not separate the two, and prints no numbers of stiction",
        ),
    )
