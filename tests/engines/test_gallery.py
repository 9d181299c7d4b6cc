"""Three engines move the machines of the gallery alike, falling and under their holding forces."""

import numpy as np
import pytest
from tolerance import max_abs

import twin
from twin.engines import engine_names

pytestmark = pytest.mark.slow

CLOSE = {"mujoco": 1e-7, "bullet": 1e-8}
"""[m] of motions of a few millimetres; measured: at most 3e-8 and 5e-10."""

STEPS = 100


def test_engines_agree(subtests):
    for name in twin.gallery_names():
        with subtests.test(f"{name}"):
            platform = twin.load(name)
            size = float(max_abs(platform.parameters.home_leg_vectors))
            timestep = 1e-3 if size > 0.4 else 2.5e-4
            twist = np.array([0.05, 0.03, 0.04, 0.1, 0.1, 0.1]) * size
            twist = platform.constrain(platform.home, twist).twist
            holding = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
            for options in ({}, {"forces": holding, "twist": twist}):
                runs = {
                    engine: platform.simulate(
                        STEPS * timestep, timestep=timestep, engine=engine, **options
                    )
                    for engine in engine_names()
                }
                reference = runs["analytic"].pose
                assert max_abs(reference - reference[0]) > 1e-5
                for engine, bound in CLOSE.items():
                    off = np.abs(runs[engine].pose - reference)[:, :3].max()
                    assert off < bound, f"{engine}: {off:.2g} m"
