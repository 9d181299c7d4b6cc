"""The twin beside a machine: a payload is put on, friction rises, counts are lost; alarms say so.

    python examples/shadow.py

The machine is an emulated one that differs from its file within the spreads of its data sheet. The
shadow knows the file alone. A real machine sends the same samples by UDP: `twin shadow`.
"""

from __future__ import annotations

import twin
from twin.link.emulated import parse_fault
from twin.shadow import Shadow
from twin.shadow.rehearsal import perturbed_machine, work, working_motion

LEARNING = 4.0
"""[s] in which the machine is taken for healthy."""

FAULTS = (
    "payload@6s:mass=20,for=1s",
    "friction@8s:leg=2,factor=2",
    "counts@9s:leg=5,counts=30",
)


def main() -> None:
    """Run machine and shadow, and print the alarms."""
    machine = twin.load("stewart", configuration="hardware")
    hidden = perturbed_machine(machine, seed=1)
    faults = [parse_fault(text) for text in FAULTS]
    shadow = Shadow(machine, learning=LEARNING)
    motion = working_motion(machine, duration=9.5, seed=1)
    print(" time [s]  alarm      where    size")
    for sample in work(machine, motion, hidden=hidden, faults=faults):
        known = len(shadow.alarms)
        state = shadow.update(sample)
        for alarm in shadow.alarms[known:]:
            where = "machine" if alarm.leg is None else f"leg {alarm.leg}"
            size = f"{alarm.size:.1f} {alarm.unit}"
            print(f" {alarm.time:8.3f}  {alarm.kind:9}  {where:7}  {size}")
    far = 1e6 * abs(state.pose[:3] - sample.values["pose"][:3]).max()
    print(
        f"at the end: pose within {far:.0f} um of the measured one, {shadow.missed} samples missed"
    )


if __name__ == "__main__":
    main()
