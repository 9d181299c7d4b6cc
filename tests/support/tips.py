"""Where the platform's joints are in the base frame, by scipy."""

from __future__ import annotations

from typing import Any

from turns import turn_of

from twin.analysis.platform import Platform


def tips_of(platform: Platform, poses: Any) -> Any:
    """Return the platform joints `(k, n, 3)` [m] in the base frame at poses `(k, 7)`."""
    return poses[:, None, :3] + platform.platform_joints @ turn_of(poses).as_matrix().mT
