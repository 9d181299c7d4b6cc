"""The ball in Bullet: a sphere of its own, and the plate as the platform's collision shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.bullet.library import bullet
from twin.kernels.ball.steps import rolling_resistance
from twin.model.ball.ball import Ball

AWAY = (0.0, 0.0, 1e3)
"""[m] Where nothing is to be touched: Bullet then forgets its contacts."""


class BulletBall:
    """The ball of one physics client.

    Rolling resistance is applied as a moment, held over each step: Bullet's direct solver leaves
    its own rolling friction out.
    """

    def __init__(self, ball: Ball, platform: tuple[int, int], options: dict[str, Any]) -> None:
        """Add the ball to a client.

        Args:
            ball: its numbers.
            platform: multibody and link that carry the plate.
            options: that say which client.
        """
        self._options, self._platform = options, platform
        self._constants, self._rolls = ball.constants, ball.rolling_resistance > 0.0
        self._moment = np.empty(3)
        shape = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=ball.radius, **options)
        self._body = bullet.createMultiBody(ball.mass, shape, **options)
        bullet.changeDynamics(
            self._body,
            -1,
            localInertiaDiagonal=[ball.inertia] * 3,
            linearDamping=0.0,
            angularDamping=0.0,
            maxJointVelocity=1e100,
            activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            restitution=0.0,
            lateralFriction=1.0,
            rollingFriction=0.0,
            spinningFriction=0.0,
            **options,
        )
        bullet.changeDynamics(
            *platform,
            restitution=0.0,
            lateralFriction=ball.friction,
            rollingFriction=0.0,
            spinningFriction=0.0,
            **options,
        )

    def place(self, place: FloatArray) -> None:
        """Put the ball at a pose with a twist `(13,)`; what it touched before is forgotten."""
        w, x, y, z = place[3:7].tolist()
        for position in (AWAY, place[:3].tolist()):
            bullet.resetBasePositionAndOrientation(
                self._body, position, (x, y, z, w), **self._options
            )
            if position is AWAY:
                bullet.performCollisionDetection(**self._options)
        bullet.resetBaseVelocity(
            self._body, place[7:10].tolist(), place[10:].tolist(), **self._options
        )

    def resist(self, normal: FloatArray, spin: Sequence[float], gravity: float) -> None:
        """Apply rolling resistance to ball and platform over the next step, if they touch.

        Args:
            normal: of the plate, base axes.
            spin: angular velocity of the platform [rad/s], base axes.
            gravity: [m/s2] along -z of the base.
        """
        if not self._rolls or not bullet.getContactPoints(bodyA=self._body, **self._options):
            return
        turning = np.array(bullet.getBaseVelocity(self._body, **self._options)[1])
        turning -= np.asarray(spin)
        pull = np.array([0.0, 0.0, -gravity])
        rolling_resistance(self._constants, pull, normal, turning, self._moment)
        options = {"flags": bullet.WORLD_FRAME, **self._options}
        bullet.applyExternalTorque(self._body, -1, self._moment.tolist(), **options)
        bullet.applyExternalTorque(*self._platform, (-self._moment).tolist(), **options)

    def read(self) -> FloatArray:
        """Return pose and twist `(13,)`."""
        position, (x, y, z, w) = bullet.getBasePositionAndOrientation(self._body, **self._options)
        velocity, spin = bullet.getBaseVelocity(self._body, **self._options)
        return np.array([*position, w, x, y, z, *velocity, *spin])
