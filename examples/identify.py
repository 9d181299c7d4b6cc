"""Find payload, friction and delay of a machine in a log of its commands, encoders and forces.

The hidden machine stands for a real one: a controller that knows the file alone moves it, and only
its log is used. `twin identify` does the same from files, and writes the identified machine.
"""

from __future__ import annotations

import twin
from twin.control import make_controller
from twin.identification.result.identify import identify
from twin.logs import log_of
from twin.motion import MultiSineMotion

DURATION = 3.0
HIDDEN = {"platform.body.mass": 103.5, "leg.drive.friction_torque": 0.27, "leg.drive.delay": 0.003}


def main() -> None:
    """Move the hidden machine, identify it, and print what was found."""
    machine = twin.load("stewart", configuration="hardware")
    motion = MultiSineMotion(
        machine.home,
        frequencies=[0.7, 1.3, 2.9],
        amplitude={"x": 0.006, "y": 0.006, "z": 0.005, "roll": 0.01, "pitch": 0.01, "yaw": 0.015},
        duration=DURATION,
        phases="random",
        fade_in=0.5,
    )
    hidden = machine.with_(parameters=HIDDEN)
    controller = make_controller("computed_torque", hidden, motion, model=machine)
    run = hidden.simulate(DURATION, controller=controller, timestep=5e-4)

    found = identify(machine, [log_of(run)], list(HIDDEN))
    if found.forces is not None:
        alone = found.forces.estimate
        for parameter, value, error in zip(
            alone.parameters, alone.values, alone.standard_errors, strict=True
        ):
            print(
                f"the forces alone: {parameter.label} {value:.5g} +- {error:.1g} {parameter.unit}"
            )
    rows = [
        (parameter.label, *(f"{number:.5g}" for number in numbers), parameter.unit)
        for parameter, *numbers in zip(
            found.parameters,
            [parameter.nominal for parameter in found.parameters],
            HIDDEN.values(),
            found.values,
            *found.intervals.T,
            strict=True,
        )
    ]
    titles = ("file", "hidden", "identified", "from", "to")
    columns = ["parameter", *titles, "unit"]
    for label, *values in (columns, *rows):
        print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
    print(found.summary)


if __name__ == "__main__":
    main()
