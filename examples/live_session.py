"""What `twin view` shows, without a page: a machine that is moved and pushed while it runs.

A session advances by as much time as it is given. Engine, controller and gains change on the way;
a second engine runs beside it with the same input, here MuJoCo with its own constraint settings.
"""

from __future__ import annotations

import numpy as np

from twin.motion import SineMotion
from twin.simulation.live.machine_session import MachineSession

session = MachineSession(
    "stewart", controller="cascade", comparison="mujoco", comparison_defaults=True
)
names = [f"{axis.name} [{axis.unit}]" for axis in session.axes]
print(f"sliders: {', '.join(names)}")
rows: list[tuple[str, ...]] = []


def note(event: str) -> None:
    """Keep a row of the table."""
    assert not session.stopped, session.stopped
    position, rotation = (session.history.values(name)[-1] for name in ("position", "rotation"))
    apart = session.difference
    assert apart is not None
    measured = (*(1e3 * position[3:]), *np.degrees(rotation[3:]))
    numbers = (session.time, *measured, float(np.abs(session.loads).max()))
    rows.append((event, *(f"{value:.2f}" for value in numbers), f"{1e6 * apart[0]:.0f}"))


target = np.zeros(len(session.axes))
target[[axis.name for axis in session.axes].index("z")] = 40.0
session.move_to(target)
session.advance(2.0)
note("moved up by 40 mm")

session.disturb(force=(800.0, 0.0, 0.0), duration=0.1)
session.advance(0.1)
note("at the end of a push of 800 N")

session.configure(controller="computed_torque")
session.home()
session.advance(2.0)
note("other controller, home")

amplitude = {"x": 0.03}
home = session.platform.home
session.play(SineMotion(home, amplitude=amplitude, frequency=1.0, duration=3.0, fade_in=0.5))
while session.playing and session.setpoint[0] < 29.9:
    session.advance(0.01)
note("at a peak of a sine of 30 mm")

run = session.trajectory()
session.close()
titles = ("time [s]", *names, "largest force [N]", "second engine off by [um]")
for label, *values in (("event", *titles), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
print(f"recorded: {run}")
