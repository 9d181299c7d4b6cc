"""The figures of a workspace analysis as rows of a table, and as plain content for JSON files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.dexterity import PlaneMap
from twin.analysis.workspace.region import Region
from twin.basics.arrays import FloatArray
from twin.charts.panels import number

DEGREES_PER_RADIAN = 180.0 / np.pi


NOT_SEARCHED = "from the same centre; collisions of legs were not searched, see twin feasible"
"""Note of the ranges with the other axes free."""


class Row(NamedTuple):
    """One line of the table."""

    name: str
    value: str
    note: str


def summary_rows(found: Workspace) -> list[Row]:
    """Return the figures of an analysis as texts."""
    return [*_ranges(found), *_volumes(found), *_dexterity(found), *_stiffness(found)]


def _ranges(found: Workspace) -> Iterator[Row]:
    for axis_range in found.ranges:
        scale, unit = (1e3, "mm") if axis_range.unit == "m" else (DEGREES_PER_RADIAN, "deg")
        alone, free = (
            f"{_signed(scale * low)} to {_signed(scale * high)} {unit}"
            for low, high in (axis_range.alone, axis_range.free)
        )
        yield Row(
            f"{axis_range.axis}, others held", alone, f"{axis_range.ends[0]}; {axis_range.ends[1]}"
        )
        yield Row(f"{axis_range.axis}, others free", free, NOT_SEARCHED)


def _volumes(found: Workspace) -> Iterator[Row]:
    if found.attitudes is None:
        value = f"{number(found.region.volume, 4)} m rad²"
        yield Row("workspace over z, roll and pitch", value, _certainty(found.region))
    else:
        value = f"{number(1e3 * found.region.volume, 4)} dm³"
        note = _certainty(found.region)
        yield Row("constant-orientation workspace", value, note)
        value = f"{number(DEGREES_PER_RADIAN**3 * found.attitudes.volume, 4)} deg³"
        note = _certainty(found.attitudes)
        yield Row("orientation workspace over yaw, pitch, roll", value, note)
    reachable_volume = found.reachable
    if reachable_volume is not None:
        note = f"to {100 * reachable_volume.uncertainty:.2g} %; turned up to "
        note += f"{number(DEGREES_PER_RADIAN * reachable_volume.turns.max(), 3)} deg"
        blocked = int(reachable_volume.segments.blocked.sum())
        if blocked:
            note += f"; singular poses or the other plate in the way of {blocked} of "
            note += f"{reachable_volume.counts[-1]} rays"
        yield Row("reachable set", f"{number(1e3 * reachable_volume.volume, 4)} dm³", note)
    names = {"minimum": "lower limits", "maximum": "upper limits", "unreachable": "reach"}
    texts = [
        f"{names.get(cause, cause)} {100 * fraction:.0f} %"
        for cause, fraction in found.region.shares.items()
        if fraction > 0.0
    ]
    yield Row("causes of the end", ", ".join(texts), "shares of all directions")


def _dexterity(found: Workspace) -> Iterator[Row]:
    at_center, over_workspace = found.dexterity, found.conditioning
    yield Row(
        "condition number at the centre", number(1.0 / float(at_center.conditioning), 4), "1: best"
    )
    yield Row(
        "condition number in the workspace",
        f"{number(1.0 / over_workspace.highest, 4)} to {number(1.0 / over_workspace.lowest, 4)}",
        "infinite at a singular pose",
    )
    note = "mean of 1/condition number over the workspace"
    yield Row("global conditioning index", number(over_workspace.mean, 4), note)
    unit = " rad/m" if found.platform.coordinate_unit == "rad" else ""
    yield Row(
        "smallest singular value",
        f"{number(float(at_center.smallest), 4)}{unit} at the centre, "
        f"{number(over_workspace.lowest_singular_value, 4)}{unit} in the workspace",
        "of the scaled Jacobian, 0 at a singular pose",
    )
    singular = found.singular
    if singular.translation is not None and singular.direction is not None:
        value = f"{number(singular.translation, 4)} m"
        yield Row("closest singular pose, moved", value, f"along {_vector(singular.direction)}")
    if singular.rotation is not None and singular.axis is not None:
        value = f"{number(DEGREES_PER_RADIAN * singular.rotation, 4)} deg"
        yield Row("closest singular pose, turned", value, f"about {_vector(singular.axis)}")


def _stiffness(found: Workspace) -> Iterator[Row]:
    relative = found.legs.source == "relative"
    crank = found.platform.coordinate_unit == "rad"
    shift, rotation_unit = ("1/m²", "1") if crank else ("", "m²")
    if not relative:
        shift, rotation_unit = "N/m", "N m/rad"
    note = "per stiffness of an actuator" if relative else f"{found.legs.source}"
    home, whole = found.stiffness, found.softest
    for name, unit in (("translation", shift), ("rotation", rotation_unit)):
        soft, stiff = (f"{side}_{name}" for side in ("softest", "stiffest"))
        value = (
            f"{number(float(getattr(home, soft)), 4)} to {number(float(getattr(home, stiff)), 4)}"
        )
        yield Row(f"stiffness at the centre, {name}", f"{value} {unit}".rstrip(), note)
        value = (
            f"{number(float(getattr(whole, soft)), 4)} to {number(float(getattr(whole, stiff)), 4)}"
        )
        yield Row(f"stiffness in the workspace, {name}", f"{value} {unit}".rstrip(), note)


def _certainty(region: Region) -> str:
    text = f"to {100 * region.uncertainty:.2g} % ({region.counts[-1]} rays)"
    hidden_fraction = 1.0 - region.visible / region.volume
    return text + (
        f"; {100 * hidden_fraction:.2g} % not seen from the centre"
        if hidden_fraction > 1e-6
        else ""
    )


def _signed(value: float) -> str:
    return f"{value:+.4g}"


def _vector(vector: FloatArray) -> str:
    return f"({', '.join(f'{value:.2f}' for value in np.round(vector, 2) + 0.0)})"


def workspace_content(found: Workspace) -> dict[str, Any]:
    """Return the figures of an analysis; SI units and radians, None for what does not exist.

    Keys: `machine`, `parameters`, `center`; `ranges` (axis -> `unit`, `alone`, `free`, `ends`);
    `workspace` (`axes`, `volume`, `uncertainty`, `visible`, `low`, `high`, `shares`, `rays`);
    `orientation_workspace` (likewise, and `pairs`); `reachable_set` (`volume`, `uncertainty`,
    `hidden`, `largest_turn`, `rays`); `dexterity` (`at_center`, `global_conditioning_index`,
    `lowest`, `highest`, `lowest_singular_value`); `singularity` (`translation`, `direction`,
    `rotation`, `axis`); `stiffness` (`source`, `unit`, `at_center`, `over_workspace`).
    """
    platform = found.platform
    return {
        "machine": platform.name,
        "parameters": platform.hash,
        "center": found.center.tolist(),
        "ranges": {
            axis_range.axis: {
                "unit": axis_range.unit,
                "alone": list(axis_range.alone),
                "free": list(axis_range.free),
                "ends": list(axis_range.ends),
            }
            for axis_range in found.ranges
        },
        "workspace": _region(found.region) | {"pairs": _pairs(found.maps)},
        "orientation_workspace": (
            None
            if found.attitudes is None
            else _region(found.attitudes) | {"pairs": _pairs(found.attitude_maps)}
        ),
        "reachable_set": _reachable(found),
        "dexterity": {
            "at_center": _numbers(found.dexterity._asdict()),
            "global_conditioning_index": found.conditioning.mean,
            "lowest": found.conditioning.lowest,
            "highest": found.conditioning.highest,
            "lowest_singular_value": found.conditioning.lowest_singular_value,
        },
        "singularity": _numbers(found.singular._asdict()),
        "stiffness": {
            "source": found.legs.source,
            "of_actuators": found.legs.values.tolist(),
            "at_center": _numbers(found.stiffness._asdict()),
            "over_workspace": _numbers(found.softest._asdict()),
        },
    }


def _region(found: Region) -> dict[str, Any]:
    low, high = found.extremes
    return {
        "axes": list(found.chart.axes),
        "volume": found.volume,
        "uncertainty": found.uncertainty,
        "visible": found.visible,
        "low": low.tolist(),
        "high": high.tolist(),
        "shares": found.shares,
        "rays": list(found.counts),
        "volumes": found.volumes.tolist(),
    }


def _pairs(maps: tuple[PlaneMap, ...]) -> list[dict[str, Any]]:
    return [
        {
            "axes": list(plane.chart.axes),
            "low": plane.extremes[0].tolist(),
            "high": plane.extremes[1].tolist(),
            "area": plane.area,
        }
        for plane in maps
    ]


def _reachable(found: Workspace) -> dict[str, Any] | None:
    reachable = found.reachable
    if reachable is None:
        return None
    return {
        "volume": reachable.volume,
        "uncertainty": reachable.uncertainty,
        "hidden": reachable.hidden,
        "largest_turn": float(reachable.turns.max()),
        "singular_rays": int(reachable.segments.blocked.sum()),
        "rays": list(reachable.counts),
        "volumes": reachable.volumes.tolist(),
    }


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if value is None else np.asarray(value).tolist()
        for name, value in values.items()
    }
