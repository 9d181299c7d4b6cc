"""Gymnasium environments; importing this package registers them.

`twin/PoseTracking-v0`, `twin/MotionCueing-v0`, `twin/VibrationIsolation-v0` and
`twin/BallBalance-v0`, each on the analytic reference, MuJoCo or PyBullet.
"""

from __future__ import annotations

from twin.envs.registration import ENVIRONMENTS, environment_ids, register_all

__all__ = ["ENVIRONMENTS", "environment_ids", "register_all"]

register_all()
