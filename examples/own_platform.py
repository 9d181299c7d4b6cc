"""A platform that nobody has described yet: from the template to its first simulation.

The same as `twin new`, an editor, `twin info` and `twin simulate`, here in Python. A machine is one
TOML file; whatever is wrong in it is reported with file, field and a way out.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import twin
from twin.analysis.machine_summary import machine_summary
from twin.charts.panels import value_text
from twin.machine.file.read import write_template

with TemporaryDirectory() as folder:
    file = write_template(Path(folder) / "camera_rig.toml", legs="ups")
    text = file.read_text()

    # What the data sheet says: a heavier payload, a stronger actuator with another stroke.
    for old, new in (
        ('mass = "97 kg"', 'mass = "140 kg"'),
        ('center_of_mass = [0.0, 0.0, "20 mm"]', 'center_of_mass = [0.0, 0.0, "55 mm"]'),
        ('maximum = "1094.4 mm"', 'maximum = "1064 mm"'),
    ):
        assert old in text, old
        text = text.replace(old, new)
    file.write_text(text)
    platform = twin.load(file)

    # A mistake, and what is said about it.
    file.write_text(text.replace('maximum = "1064 mm"', 'maximum = "950 mm"'))
    try:
        twin.load(file)
    except twin.TwinError as error:
        print(f"refused, as it should be: {str(error).splitlines()[-1].strip()}")

facts = [(fact.name, value_text(fact.value), fact.unit) for fact in machine_summary(platform)]
for label, value, unit in facts:
    print(f"  {label:<24} {value} {unit}")

forces = platform.inverse_dynamics(platform.home, [0.0] * 6, [0.0] * 6)
for engine in ("analytic", "mujoco"):
    held = platform.simulate(0.5, forces=forces, engine=engine)
    sunk = 1e9 * (held.pose[-1, 2] - platform.home[2])
    print(f"half a second under its holding forces on {engine}: moved by {sunk:.3f} nm")
