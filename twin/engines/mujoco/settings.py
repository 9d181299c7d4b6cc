"""Fidelities and options of the MuJoCo engine: integrator and stiffness of the loop constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import as_flag, as_floats, as_vector, one_of
from twin.engines.mjcf.robot import LOOP_SOLIMP, loop_solref
from twin.engines.mujoco.model import mujoco
from twin.engines.stability import Scheme
from twin.errors import InputError
from twin.model.engine import Fidelity

INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
FIDELITY_INTEGRATORS: dict[Fidelity, str] = {"accurate": "RK4", "fast": "Euler"}

EXPLICIT_DAMPING = mujoco.mjtDisableBit.mjDSBL_EULERDAMP
"""Taking a damper's force from the end of the step changes accelerations after the loops' forces
were found, and so opens the loops: by a millimetre where they are held stiffly."""

MAX_INVERSE_WEIGHT = 3.0
"""Inverse weight of a body that closes a loop, at most, per that of the whole machine. MuJoCo lets
a loop yield in proportion to it, and so opens the loops of light legs: at the least mass of a leg's
part by metres. The forces in the loops are those of the whole machine's weight, whatever the legs
weigh."""

TOLERANCE = 1e-14
"""Relative improvement at which the constraint solver stops; MuJoCo's own default is 1e-8."""

DEFAULT_SOLREF = (0.02, 1.0)
DEFAULT_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
DEFAULT_TOLERANCE = 1e-8


class Settings(NamedTuple):
    """Settings that are written into the compiled model."""

    integrator: str
    solref: tuple[float, ...]
    """time constant [s] and damping ratio; both negative: minus stiffness and minus damping"""
    solimp: tuple[float, ...]
    """smallest and largest impedance, width [m], midpoint, power"""
    tolerance: float
    bounds_yield: bool
    """whether loops of light legs yield no more than `MAX_INVERSE_WEIGHT` allows"""

    @property
    def scheme(self) -> Scheme:
        """Scheme of the integrator's steps."""
        return "rk4" if self.integrator == "RK4" else "explicit"

    def apply(self, model: mujoco.MjModel, timestep: float) -> None:
        """Write the settings and the time step [s] into `model`."""
        model.opt.timestep = timestep
        model.opt.integrator = INTEGRATORS[self.integrator]
        model.opt.tolerance = self.tolerance
        model.opt.disableflags |= int(EXPLICIT_DAMPING)
        model.eq_solref[:] = self.solref
        model.eq_solimp[:] = self.solimp
        if self.bounds_yield:
            ends = model.site_bodyid[np.concatenate([model.eq_obj1id, model.eq_obj2id])]
            bound = MAX_INVERSE_WEIGHT / model.body_subtreemass[0]
            model.body_invweight0[ends, 0] = np.minimum(model.body_invweight0[ends, 0], bound)


def make_settings(
    timestep: float,
    fidelity: Fidelity,
    *,
    solref: Any = None,
    solimp: Any = None,
    integrator: str | None = None,
    engine_defaults: bool = False,
) -> Settings:
    """Return a fidelity's settings with what is given in its place.

    Raises:
        InputError: unknown integrator, or numbers MuJoCo would not take as they are.
    """
    own = FIDELITY_INTEGRATORS[fidelity]
    name = own if integrator is None else one_of(integrator, "integrator", INTEGRATORS)
    as_flag(engine_defaults, "engine_defaults")
    own_solref = DEFAULT_SOLREF if engine_defaults else loop_solref(timestep)
    own_solimp = DEFAULT_SOLIMP if engine_defaults else LOOP_SOLIMP
    return Settings(
        name,
        own_solref if solref is None else _check_solref(solref),
        own_solimp if solimp is None else _check_solimp(solimp),
        DEFAULT_TOLERANCE if engine_defaults else TOLERANCE,
        not engine_defaults,
    )


def _check_solref(value: Any) -> tuple[float, ...]:
    first, second = as_vector(value, "solref", 2)
    if not (first > 0 and second > 0) and not (first < 0 and second < 0):
        raise InputError("solref", "must be two positive or two negative numbers")
    return float(first), float(second)


def _check_solimp(value: Any) -> tuple[float, ...]:
    given = as_floats(value, "solimp")
    if given.shape not in ((3,), (5,)):
        raise InputError("solimp", f"must be 3 or 5 numbers, got shape {given.shape}")
    low, high, width, midpoint, power = [*given.tolist(), *LOOP_SOLIMP[3:]][:5]
    if not (0 < low < 1 and 0 < high < 1 and width > 0 and 0 < midpoint < 1 and power >= 1):
        raise InputError(
            "solimp",
            "needs impedances between 0 and 1, a width above 0, a midpoint between 0 and 1 and a "
            f"power of at least 1, got {given.tolist()}",
        )
    return low, high, width, midpoint, power
