"""The twin beside `twin emulate` in real time: missed samples, durations of updates, memory.

    chrt -f 10 taskset -c 0 python benchmarks/shadow_live.py stewart --seconds 600

Shadow, emulated machine and controller are three processes. The shadow has core 0, the others have
the remaining ones. The computer should have nothing else to do.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import re
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import twin
from twin.link.protocol import Sample
from twin.link.transport.address import Address
from twin.link.transport.source import UdpLink
from twin.shadow.rehearsal import DEFAULT_NOISE, working_motion
from twin.shadow.session import ShadowSession
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS

RESULTS = Path(__file__).parent / "results"
LOCAL = Address("127.0.0.1", 0)

PIECE = 60.0
"""[s] of motion that is played forwards and backwards."""

LEAST = 100
"""Samples before the memory is read first: everything is compiled then."""

BETWEEN = 10_000
"""Samples between two readings of the memory."""

HEAVIER = 1.06
"""Mass of the machine's platform per that of its file."""


def emulated(
    machine: twin.Platform, seconds: float, to: Address
) -> tuple[subprocess.Popen[str], Address]:
    """Start the machine, and return its process and the address for commands."""
    mass = HEAVIER * machine.parameters.platform.body.mass
    command = [sys.executable, "-u", "-m", "twin", "emulate", machine.name]
    command += ["--configuration", "hardware", "--values", f"platform.body.mass={mass} kg"]
    command += ["--listen", str(LOCAL), "--to", str(to), "--duration", f"{seconds} s", "--priority"]
    for field, deviation in DEFAULT_NOISE.items():
        command += ["--noise", f"{field}={deviation}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=elsewhere)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"udp://([\d.]+):(\d+)", line):
            return process, Address(found[1], int(found[2]))
    raise SystemExit("twin emulate has not begun")


def elsewhere() -> None:
    """Leave core 0 to the shadow."""
    os.sched_setaffinity(0, set(range(os.cpu_count() or 1)) - {0} or {0})


def control(name: str, parent: Connection) -> None:
    """Say when ready, take the machine's address, and send setpoints until no measurement comes."""
    elsewhere()
    machine = twin.load(name, configuration="hardware")
    motion = working_motion(machine, PIECE, 1)
    link, size = UdpLink(LOCAL, machine.n_actuators, "measurement"), len(motion.time)
    parent.send(None)
    to, sequence, first = parent.recv(), 1, None
    link.send(Sample("command", 0.0, {}, sequence), to)
    while (sample := link.receive(1.0)) is not None:
        first = sample.time if first is None else first
        lap, row = divmod(round(1000.0 * (sample.time - first)), size)
        back = bool(lap % 2)
        row = size - 1 - row if back else row
        rates = -motion.rates[row] if back else motion.rates[row]
        values = {"setpoint": motion.coordinates[row], "command_rates": rates}
        sequence += 1
        link.send(Sample("command", sample.time, values, sequence), to)
    link.close()


def memory() -> float:
    """Return the memory of this process [MiB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def watched(name: str, seconds: float) -> tuple[list[float], list[float], int]:
    """Return durations of all updates [s], memory on the way [MiB], and how many were missed."""
    platform = twin.load(name, configuration="hardware")
    link = UdpLink(LOCAL, platform.n_actuators, "measurement")
    shadow = Shadow(platform, thresholds=INFINITE_THRESHOLDS)
    home = platform.home_coordinates
    values = {"coordinates": home, "command_rates": 0.0 * home}
    shadow.update(Sample("measurement", 0.0, values))
    shadow.reset()  # all code is loaded
    session = ShadowSession(shadow, link)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    controller = context.Process(target=control, args=(name, theirs))
    controller.start()
    ours.recv()
    machine, address = emulated(platform, seconds, link.address)
    ours.send(address)
    spent, used = np.zeros(round(1000.0 * seconds) + 2), []
    while machine.poll() is None or session.updates == 0:
        while session.receive(1.0):
            count = session.updates
            spent[count - 1] = session.last_duration
            if count == LEAST or count % BETWEEN == 0:
                used.append(memory())
    assert machine.stdout is not None
    print(machine.stdout.read())
    controller.join()
    print(f"samples: {session.updates} of {round(1000.0 * seconds) + 1}; {link.counts}")
    return spent[LEAST : session.updates].tolist(), [*used, memory()], session.shadow.missed


def main() -> None:
    """Print and write what came and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine", nargs="?", default="stewart")
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    spent, used, missed = watched(given.machine, given.seconds)
    times = 1e6 * np.array(spent)
    rows = {
        "updates": len(times),
        "missed samples": missed,
        "median of an update [us]": np.median(times),
        "99.9 % of updates within [us]": np.percentile(times, 99.9),
        "longest update [us]": times.max(),
        "updates within 1 ms [%]": 100.0 * (times <= 1000.0).mean(),
        "memory after 100 samples [MiB]": used[0],
        "least memory of the last two thirds [MiB]": min(used[len(used) // 3 :]),
        "most memory of the last two thirds [MiB]": max(used[len(used) // 3 :]),
    }
    table = [(title, round(float(value), 4)) for title, value in rows.items()]
    for title, value in table:
        print(f"{title:44}{value:12g}")
    with (RESULTS / f"shadow_{given.machine}_live.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("quantity", "value"), *table])


if __name__ == "__main__":
    main()
