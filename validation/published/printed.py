"""Numbers that the papers print, each with the place it is from."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from math import pi
from pathlib import Path
from typing import NamedTuple

from twin.errors import InputError
from twin.validation.case import Agreement, Measure, Statement

ERRATA_FILE = Path(__file__).parents[1] / "errata.md"

ERRATA_COLUMNS = ("Where", "Printed", "Right", "Assumes", "Shown by")

TEST_PATTERN = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")
"""Pattern of a test's id, as pytest takes it."""

HALF_UNIT_REASON = "half a unit of the last printed digit"

STEWART_BASE_JOINTS = (
    (0.5701, 0.6097, -0.0519, -0.1661, -0.5181, -0.4436),
    (-0.2692, -0.1602, 0.6283, 0.6081, -0.3591, -0.4479),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
)
"""[m] rows x, y, z; thesis, appendix A.2: pos_base."""

STEWART_PLATFORM_JOINTS = (
    (0.1445, 0.3710, 0.2785, -0.3737, -0.4230, 0.0027),
    (-0.4050, 0.2173, 0.3277, 0.2127, 0.0773, -0.4300),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
)
"""[m] rows x, y, z; thesis, appendix A.2: body_pts."""

STEWART_RETRACTED_LENGTH = 0.8644
"""[m] Length of all legs when retracted; thesis, appendix A.2: leg_length."""

STEWART_RETRACTED_HEIGHT = 0.740
"""[m] Height of the platform with retracted legs; thesis, appendix A.1: height."""

STEWART_DOF = 6
"""Thesis, equation (2.1) with 14 links, 18 joints and 36 joint degrees of freedom."""

SIGNIFICANT_DIGITS = 6
"""Number of significant digits of the published coordinates below."""

LEVEL_FALL = (
    (0.12, 1.14277, 1.14277, 1.14277, 1.14277, 1.14277, 1.14277),
    (0.24, 0.94954, 0.949538, 0.949541, 0.949541, 0.949538, 0.94954),
    (0.36, 0.660407, 0.660393, 0.660421, 0.660421, 0.660393, 0.660407),
    (0.432, 0.528634, 0.528591, 0.528717, 0.528717, 0.528591, 0.528634),
    (0.48, 0.500487, 0.500439, 0.500721, 0.500721, 0.500439, 0.500487),
)
"""Time [s] and six leg lengths [m] of the free fall from home; Actuator-space/CPP/qxdata.dat."""

TILTED_START = (0.0, 0.0, 1.1, 0.1, 0.1, 0.0)
"""x, y, z [m] and Rodrigues parameters (axis times tangent of half the angle); the same folder's
dynamics_main.cpp."""

TILTED_FALL = (
    (0.1, 0.000502549, -0.000555481, 1.04978, 0.100165, 0.100145, -7.05684e-06),
    (0.2, 0.00302065, -0.00328952, 0.897821, 0.10037, 0.100308, -3.7674e-05),
    (0.3, 0.0137801, -0.0143806, 0.640231, 0.0964356, 0.0964024, -3.58505e-05),
    (0.4, 0.0419757, -0.0428857, 0.292784, 0.0541436, 0.0571542, 0.000516641),
    (0.5, 0.0445685, -0.0356996, -0.0248544, -0.0367518, -0.0262172, 0.000636108),
    (0.6, 0.00527917, 0.0281513, -0.312756, -0.101611, -0.102832, -0.00154033),
    (0.7, -0.0678821, 0.132864, -0.635957, -0.130265, -0.163666, -0.00905968),
    (0.8, -0.1496, 0.267587, -1.00704, -0.151949, -0.219297, -0.0116427),
    (0.9, -0.220829, 0.400723, -1.45141, -0.175942, -0.283737, -0.00965548),
    (1.0, -0.284506, 0.521817, -1.98478, -0.204968, -0.358596, -0.00838971),
)
"""[s], then as `TILTED_START`; Extended-configuration-space-to-task-space/CPP/qxdata.dat."""

TILTED_END_TASK_SPACE = (-0.285127, 0.521039, -1.98505, -0.205113, -0.357736, -0.0113005)
"""End of the same fall at 1 s by the task-space program; Task-space/CPP/qxdata.dat."""

RSS_START_HEIGHT = 1.1
"""[m] level and at rest; 6_RSS/CPP/dynamics_main.cpp."""

RSS_FALL = (
    (0.105, 1.04592, 0.000698837),
    (0.203, 0.897755, 0.00215947),
    (0.301, 0.65519, 0.0030112),
    (0.399, 0.31916, -0.00100913),
    (0.504, -0.138903, -0.0148864),
    (0.602, -0.665409, -0.0255167),
)
"""[s], z [m] and first Rodrigues parameter of the 6-RSS manipulator; 6_RSS/CPP/qxdata.dat."""

RSS_FIRST_ACCELERATION = (0.000593773, -0.00293147, -9.80827, 0.135312, 0.0129348, 1.40335e-05)
"""x, y, z [m/s2] and Rodrigues parameters [1/s2] at 7 ms; 6_RSS/CPP/dddata.dat."""


class PrintedSentence(NamedTuple):
    """One sentence of a paper that is judged, with the verdict on record."""

    source: str
    """paper and section, figure, table or equation"""
    text: str
    recorded: Agreement
    """agreement on record, from which a change fails the case"""

    def judged(self, ours: str, same: bool, why: str = "") -> Statement:
        """Return the statement as reproduced if `same`, else as differing, for the reason `why`."""
        return Statement.judged(self.source, self.text, ours, same, why, self.recorded)

    def not_given(self, ours: str, why: str) -> Statement:
        """Return the statement as one for which the paper gives no number to compare with."""
        return Statement(self.source, self.text, ours, "not given", why, self.recorded)


class Paper:
    """A paper: `paper["name"]` is a sentence of it, `str(paper)` its title.

    Attributes:
        title: as in the report.
        sentences: by name.
    """

    def __init__(self, name: str) -> None:
        file = Path(__file__).with_name(f"{name}.toml")
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        self.title: str = content.pop("title")
        self.sentences = {
            key: PrintedSentence(f"{self.title}, {entry['place']}", entry["says"], entry["verdict"])
            for key, entry in content.items()
        }

    def __getitem__(self, name: str) -> PrintedSentence:
        return self.sentences[name]

    def __str__(self) -> str:
        return self.title


STEWART_THESIS = Paper("stewart_thesis")
EXTENDED_SPACE_PAPER = Paper("extended_configuration_space")
VISCOELASTIC_PAPER = Paper("viscoelastic_legs")
SIMULATOR_PAPER = Paper("driving_simulator")
HEXAPOD_PAPER = Paper("micro_hexapod")


class Erratum(NamedTuple):
    """One passage that is printed and cannot be right; texts in Markdown."""

    paper: str
    where: str
    printed: str
    right: str
    """the correct text or formula, used in this project"""
    assumed: str
    """the assumption behind the correction, beyond the printed text"""
    test: str
    """file and name of the test that shows it"""


class PaperErrata(NamedTuple):
    """The errata of one paper."""

    paper: str
    reference: str
    """bibliographic reference, Markdown"""
    entries: tuple[Erratum, ...]
    note: str
    """text below the table; Markdown"""


def read_errata(path: Path = ERRATA_FILE) -> tuple[PaperErrata, ...]:
    """Return the errata of all papers, one section and one table each, in the file's order.

    Raises:
        InputError: a section without a table, or a row that names no test.
    """
    _, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return tuple(_section(text) for text in sections)


def _section(text: str) -> PaperErrata:
    title, _, body = text.partition("\n")
    paper = title.strip()
    lines = body.strip().splitlines()
    table = [i for i, line in enumerate(lines) if line.startswith("|")] or [len(lines)]
    header, _, *rows = [_cells(line) for line in lines if line.startswith("|")] or [(), ()]
    if tuple(header) != ERRATA_COLUMNS or not rows:
        raise InputError(
            "errata", f"{paper} needs a table with columns {', '.join(ERRATA_COLUMNS)}"
        )
    reference, note = (
        " ".join(text_lines).strip() for text_lines in (lines[: table[0]], lines[table[-1] + 1 :])
    )
    return PaperErrata(paper, reference, tuple(_entry(paper, row) for row in rows), note)


def _cells(line: str) -> tuple[str, ...]:
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return tuple(cell.strip().replace("\\|", "|") for cell in cells)


def _entry(paper: str, row: tuple[str, ...]) -> Erratum:
    test = TEST_PATTERN.fullmatch(row[-1])
    if len(row) != len(ERRATA_COLUMNS) or test is None:
        raise InputError("errata", f"{paper}: needs five cells and a test at the end: {row}")
    where, printed, right, assumed, _ = row
    return Erratum(paper, where, printed, right, assumed, test[1])


class PrintedValue(NamedTuple):
    """A number that a paper prints."""

    source: str
    """paper and section, figure, table or equation"""
    quantity: str
    text: str
    """the digits that are printed; "about 220" leaves trailing zeros out of them"""
    unit: str = "1"

    @property
    def value(self) -> float:
        """The printed number as a float, in `unit`."""
        return float(self.text.removeprefix("about "))

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit that counts."""
        digits = Decimal(self.text.removeprefix("about "))
        if self.text.startswith("about "):
            digits = digits.normalize()
        return 0.5 * 10.0 ** int(digits.as_tuple().exponent)

    def holds(self, ours: float) -> bool:
        """Return whether `ours` rounds to the printed number."""
        # A printed number may lie on the edge; its binary form does not do so exactly.
        return abs(ours - self.value) <= self.tolerance * (1.0 + 1e-9)


class Comparison(NamedTuple):
    """A printed value and ours, as a measure and as a statement."""

    measure: Measure
    statement: Statement


def compared(printed: PrintedValue, ours: float) -> Comparison:
    """Return the measure and the statement of our value of a printed quantity.

    Args:
        printed: the printed number.
        ours: the same quantity in the same unit.
    """
    unit = "" if printed.unit == "1" else f" {printed.unit}"
    measure = Measure(
        f"{printed.quantity} against the printed {printed.text}{unit}",
        abs(ours - printed.value),
        printed.tolerance,
        HALF_UNIT_REASON,
        printed.unit,
    )
    text = f"{printed.quantity} {printed.text}{unit}"
    return Comparison(
        measure,
        Statement.judged(printed.source, text, f"{ours:.8g}{unit}", printed.holds(ours)),
    )


STEWART_PITCH_AMPLITUDE, STEWART_PITCH_FREQUENCY = 3.0 * pi / 180.0, 1.0
"""[rad], [Hz] Sine of the pitch in thesis, figures 2.6 and 3.6, at rest otherwise."""

STEWART_PITCH_POSITION = (0.0, 0.0, 0.74)
"""[m] Position of the reference point in the same figures."""


class StaticPayload(NamedTuple):
    """The search for the largest payload at rest that the legs hold in all positions."""

    thrust: float
    """[N] limit of an actuator"""
    held_mass: float
    """[kg] largest payload, in steps of 50 kg"""
    refused_mass: float
    """[kg] next larger payload, which they cannot hold"""
    extensions: tuple[float, ...]
    """[m] first position found at which `refused_mass` exceeds the limit"""


STEWART_STATIC_PAYLOAD = StaticPayload(3073.0, 700.0, 750.0, (0.0, 0.0, 0.0767, 0.0, 0.23, 0.23))
"""Thesis, section 4.2.1 and appendix A.5 (nested loops, the sixth leg innermost)."""


STEWART_SPEED_FREQUENCY, STEWART_SPEED_LIMIT = 2.0, 0.254
"""[Hz], [m/s] Sines on all axes at once, about mid-stroke, and the speed that one actuator nearly
reaches; thesis, section 4.2.2 and figure 4.7."""


class DynamicPayload(NamedTuple):
    """The search for the largest payload that can be shaken as the speed check does."""

    held_mass: float
    """[kg] largest payload, in steps of 50 kg"""
    refused_mass: float
    """[kg] next larger payload, which fails"""
    extensions: tuple[float, ...]
    """[m] first position found at which `refused_mass` exceeds the limit"""
    frequency: float
    """[Hz] frequency at which it fails"""


STEWART_DYNAMIC_PAYLOAD = DynamicPayload(500.0, 550.0, (0.15, 0.05, 0.05, 0.15, 0.05, 0.05), 22.0)
"""Thesis, section 4.2.2; the phases between the axes are not given."""


class FreeFall(NamedTuple):
    """The printed end of a free fall from home, after one second."""

    x: str
    z: str
    """height [m] as printed"""
    singular_time: float
    """time [s] at which actuator-space equations end"""
    output_step: float
    """output step [s] of the published simulation"""


FREE_FALLS = {"srspm": FreeFall("0.005068193", "-2.133568", 0.48, 0.01)}
"""x, z: C++ code published with the paper; singular time: section 5.2, tables 5 and 6."""
