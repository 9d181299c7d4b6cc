"""The twin beside an emulated machine in real time: missed samples, durations, memory.

    chrt -f 10 taskset -c 0 python benchmarks/shadow_live.py stewart --seconds 600

The machine runs in a process of its own on another core and sends 1,000 datagrams a second.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time as clock
from pathlib import Path

import numpy as np

import twin
from twin.link.protocol import Encoder
from twin.link.transport.address import Address
from twin.link.transport.udp import UdpLink
from twin.shadow.derive import NEVER
from twin.shadow.session import ShadowSession
from twin.shadow.shadow import Shadow
from twin.shadow.working import hidden_machine, work, working_motion

PIECE = 60.0
"""[s] of motion that is repeated."""

LEAST = 100
"""Samples before the memory is read first: everything is compiled then."""


def machine_process(name: str, seconds: float, to: tuple[str, int]) -> None:
    """Send the measurements of a machine at work, one a millisecond."""
    os.sched_setaffinity(0, set(range(os.cpu_count() or 1)) - {0} or {0})
    machine = twin.load(name, configuration="hardware")
    reference = working_motion(machine, PIECE, 1)
    repeats = int(np.ceil(seconds / PIECE))
    rows = np.concatenate([np.r_[0 : len(reference.time)], np.arange(len(reference.time))[::-1]])
    rows = np.tile(rows, repeats)[: round(1000 * seconds) + 1]
    sign = np.where(np.diff(rows, append=rows[-1]) < 0, -1.0, 1.0)[:, None]
    moving = reference._replace(
        time=np.arange(len(rows)) * 1e-3,
        coordinates=reference.coordinates[rows],
        rates=sign * reference.rates[rows],
    )
    link = UdpLink(Address("127.0.0.1", 0), machine.n_actuators, "command")
    encoder = Encoder(machine.n_actuators)
    begin, late = None, 0
    for sample in work(machine, moving, hidden=hidden_machine(machine, 1), seed=1):
        if begin is None:
            begin = clock.perf_counter() - sample.time
        wait = begin + sample.time - clock.perf_counter()
        late += wait < -1e-3
        if wait > 0.0:
            clock.sleep(wait)
        link.send_bytes(encoder.encode(sample), Address(*to))
    print(f"machine: {late} of {len(rows)} samples more than 1 ms late at the sender")
    link.close()


def memory() -> float:
    """Return the memory of this process [MiB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    """Run machine and shadow, and print what came and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine", nargs="?", default="stewart")
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    platform = twin.load(given.machine, configuration="hardware")
    link = UdpLink(Address("127.0.0.1", 0), platform.n_actuators, "measurement")
    shadow = Shadow(platform, thresholds=NEVER)
    session = ShadowSession(shadow, link, ring=min(120.0, 0.2 * given.seconds))
    context = multiprocessing.get_context("spawn")
    target = (given.machine, given.seconds, tuple(link.address))
    sender = context.Process(target=machine_process, args=target, daemon=True)
    sender.start()
    spent, first, at_first = np.full(round(1000 * given.seconds), 1.0), 0.0, 0.0
    while session.updates < len(spent) and (sender.is_alive() or session.updates == 0):
        before = session.updates
        if session.receive(1.0):
            spent[before] = session.last
        if session.updates == LEAST:
            first = memory()
        if session.updates == len(spent) // 3:
            at_first = memory()  # the ring is full, all its pages are in use
    last = memory()
    sender.join(5.0)
    kept = 1e6 * spent[LEAST : session.updates]
    half, most, worst = np.percentile(kept, (50.0, 99.9, 100.0))
    within = 100.0 * float((kept <= 1000.0).mean())
    print(f"{session.updates} samples of {len(spent)}, missed {shadow.missed}, {link.counts}")
    print(f"update: median {half:.0f} us, 99.9 % {most:.0f} us, largest {worst:.0f} us")
    print(f"within 1 ms: {within:.3f} %")
    print(f"memory: {first:.1f} MiB, a third on {at_first:.1f} MiB, at the end {last:.1f} MiB")


if __name__ == "__main__":
    main()
