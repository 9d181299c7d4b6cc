"""A training whose randomisation doubles a mass: what its episodes draw under a curriculum."""

import numpy as np
from numpy.testing import assert_allclose

import twin
from twin.envs.episodes import Episodes

BALL, MASS = "twin/BallBalance-v0", "platform.body.mass"
OPTIONS = {"randomisation": {MASS: {"kind": "choice", "values": [2.0], "relative": True}}}
CURRICULUM = [[0.0, 0.1], [0.5, 1.0]]
"""A tenth of the way at first, all of it from half the steps on."""


def watched(monkeypatch):
    """Return the list that gets the mass of every episode to come [kg]."""
    found = []
    draw = Episodes._draw

    def drawn(self, index, generator):
        result = draw(self, index, generator)
        found.append(self.varied[index][MASS])
        return result

    monkeypatch.setattr(Episodes, "_draw", drawn)
    return found


def check(masses):
    """Check that the episodes go from a tenth of the way to all of it, never back."""
    shares = np.array(masses) / twin.load("stewart").parameters.platform.body.mass - 1.0
    assert_allclose(shares[[0, -1]], [0.1, 1.0], rtol=1e-9)
    assert (np.diff(shares) > -1e-9).all()
    assert ((shares > 0.2) & (shares < 0.9)).any()
