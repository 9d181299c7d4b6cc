"""Mutations of one side: of the reference, or of one engine's model."""

from __future__ import annotations

from mutations.laws import LAWS
from mutations.own_cases import OWN_CASES
from mutations.projected import PROJECTED
from mutations.run import Mutation

BULLET = "Bullet: largest relative error of projected forces"
MUJOCO = "MuJoCo: largest relative error of projected forces"

MUTATIONS = (
    *(
        Mutation(*entry, "projection", BULLET if entry[1] == "bullet" else MUJOCO)  # type: ignore[arg-type]
        for entry in PROJECTED
    ),
    *LAWS,
    *(Mutation(*entry) for entry in OWN_CASES),
)
