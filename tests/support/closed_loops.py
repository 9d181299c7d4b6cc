"""Closed-loop runs that several tests share."""

from twin.engines.base import suitable_timestep
from twin.motion import SineMotion, StepMotion
from twin.motion.specification import convention_of as angles

HEAVE = {"micro_hexapod": 1e-4, "compliant_stewart": 0.01, "rss": 0.01}
"""[m] Amplitudes that suit a machine's stroke; 0.02 for the others."""


def heave(platform, duration=0.5):
    """Return an up and down of 1 Hz that begins and ends at rest."""
    return SineMotion(
        platform.home,
        amplitude={"z": HEAVE.get(platform.name, 0.02)},
        frequency=1.0,
        duration=duration,
        convention=angles(platform),
        fade_in=0.2 * duration,
        fade_out=0.2 * duration,
    )


def lift(platform, height, at=0.05, duration=3.0):
    """Return a step of the height [m] at a time [s]."""
    return StepMotion(
        platform.home,
        displacement={"z": height},
        start=at,
        rise=0.0,
        duration=duration,
        convention=angles(platform),
    )


def run(platform, controller, duration, **options):
    """Run a closed loop at a step that suits the machine, fast and without a progress bar."""
    settings = {
        "timestep": min(5e-4, suitable_timestep(platform)),
        "fidelity": "fast" if options.get("engine", "analytic") == "analytic" else "accurate",
        "progress": False,
    }
    return platform.simulate(duration, controller=controller, **settings | options)
