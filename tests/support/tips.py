"""Where the platform's joints are in the base frame, by scipy."""

from __future__ import annotations

from turns import turn_of


def tips_of(platform, poses):
    """Return the platform joints `(k, n, 3)` [m] in the base frame at poses `(k, 7)`."""
    return poses[:, None, :3] + platform.platform_joints @ turn_of(poses).as_matrix().mT
