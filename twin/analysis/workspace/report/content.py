"""The workspace analysis as plain numbers and texts, for JSON files."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.workspace.analysis import Workspace
from twin.analysis.workspace.maps import PlaneMap
from twin.analysis.workspace.region import Region


def workspace_content(found: Workspace) -> dict[str, Any]:
    """Return the figures of an analysis; SI units and radians, None for what does not exist.

    Keys: machine, parameters, center; ranges (axis -> unit, alone, free, ends); workspace (axes,
    volume, uncertainty, visible, low, high, shares, rays); orientation_workspace (likewise, and
    pairs); reachable_set (volume, uncertainty, hidden, largest_turn, rays); dexterity (at_center,
    global_conditioning_index, lowest, highest, lowest_singular_value); singularity (translation,
    direction, rotation, axis); stiffness (source, unit, at_center, over_workspace).
    """
    platform = found.platform
    return {
        "machine": platform.name,
        "parameters": platform.hash,
        "center": found.center.tolist(),
        "ranges": {
            one.axis: {
                "unit": one.unit,
                "alone": list(one.alone),
                "free": list(one.free),
                "ends": list(one.ends),
            }
            for one in found.ranges
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
            "axes": list(one.chart.axes),
            "low": one.extremes[0].tolist(),
            "high": one.extremes[1].tolist(),
            "area": one.area,
        }
        for one in maps
    ]


def _reachable(found: Workspace) -> dict[str, Any] | None:
    one = found.reachable
    if one is None:
        return None
    return {
        "volume": one.volume,
        "uncertainty": one.uncertainty,
        "hidden": one.hidden,
        "largest_turn": float(one.turns.max()),
        "singular_rays": int(one.stretches.blocked.sum()),
        "rays": list(one.counts),
        "volumes": one.volumes.tolist(),
    }


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if one is None else np.asarray(one).tolist() for name, one in values.items()}
