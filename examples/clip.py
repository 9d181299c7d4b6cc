"""A film of a machine at work, and a picture of the moment when it is farthest from its start.

Drawn without a display. On the command line the same is `twin render stewart --motion tank --out
clip.gif`; a name that ends in .mp4 gives a smaller file of better quality.
"""

from __future__ import annotations

import sys
from pathlib import Path

import twin
from twin.control import make_controller
from twin.motion import TankTrackMotion
from twin.viewer.film import Look, write_film, write_picture

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

platform = twin.load("stewart", "hardware")
course = TankTrackMotion(platform.home, duration=4.0, peak_pitch=0.1)
controller = make_controller("feedforward", platform, course)
run = platform.simulate(4.0, controller=controller, timestep=5e-4, fidelity="fast", every=2)
assert not run.stopped, run.stopped

look = Look(width=320, height=240, ghost=True)
print(f"wrote {write_film(run, platform, folder / 'clip.gif', look=look, rate=10.0)}")
print(
    f"wrote {write_picture(run, platform, folder / 'clip.png', look=look._replace(quality='fine'))}"
)
