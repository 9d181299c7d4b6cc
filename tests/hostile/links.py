"""Links that go wrong: datagrams, order, senders, servers that die, commands that are killed."""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from opcua_server import OpcUaServer
from started import free_port

import twin
from twin.link.emulated import EmulatedMachine
from twin.link.protocol import (
    CHECKSUM_START,
    FIELD_WIDTHS,
    HEADER,
    MAGIC,
    POSE_FIELDS,
    VERSION,
    Encoder,
    Sample,
    decode,
    mask_of,
    width_of,
)
from twin.link.recording import Recording
from twin.link.transport.address import Address, Arrivals, Counts
from twin.link.transport.source import UdpLink, open_source
from twin.logs import read_log
from twin.logs.recorder import LogRecorder, files_of
from twin.shadow.session import ShadowSession
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS, write_thresholds

LOCAL = Address("127.0.0.1", 0)
LEGS, RATE = 6, 1000.0
NUMBERS = (0.0, -1.0, 1e-300, 0.9, 100.0, 1e9, -1e12, 1e150, 1e300, np.nan, np.inf)
TIMES = (0, 1, 10**9, 9 * 10**18, 2**63, 2**64 - 1)
SEQUENCES = (0, 1, 63, 64, 4096, 2**31, 2**32 - 1)
MACHINES = ("stewart", "srspm", "compliant_stewart", "rss")
WAIT = 60.0
"""[s] Longest wait for a command on a busy computer."""

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)


class LinkError(Exception):
    """A link lost count of what it got, or a file does not have what it should."""


def check(good, what):
    """Raise LinkError unless something holds."""
    if not good:
        raise LinkError(what)


@lru_cache(maxsize=8)
def shadow_of(name, mode=None):
    """Return a shadow of a machine, to be reset."""
    return Shadow(
        twin.load(name, configuration="hardware"), RATE, thresholds=INFINITE_THRESHOLDS, mode=mode
    )


def datagram(random, kind, sequence, time, legs=LEGS):
    """Return a datagram whose checksum is right, and everything else may be wrong."""
    names = {*random.sample(sorted(FIELD_WIDTHS), random.randint(0, 4)), "coordinates"}
    numbers = []
    home = random.choice((1.0, 1.0, 1.2, 0.02, *NUMBERS))
    for name in FIELD_WIDTHS:
        if name in names:
            pose = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
            numbers += (
                pose if name in POSE_FIELDS else [home] * width_of(name, max(1, min(legs, 12)))
            )
    for _ in range(random.choice((0, 0, 1, 3))):
        numbers[random.randrange(len(numbers))] = random.choice(NUMBERS)
    mask = mask_of(frozenset(names))
    head = [VERSION, kind, legs, random.choice((0, 0, 0, 1, 2)), sequence, time, 0, mask]
    if random.random() < 0.1:
        head[random.choice((0, 1, 2, 3, 7))] = random.randrange(256)
    data = HEADER.pack(MAGIC, 0, *head) + struct.pack(f"<{len(numbers)}d", *numbers)
    return data[:4] + crc32(data[CHECKSUM_START:]).to_bytes(4, "little") + data[CHECKSUM_START:]


def datagrams(random, kind, count):
    """Yield datagrams in a wrong order, doubled, damaged and with fields at their extremes."""
    for k in range(1, count):
        sequence = k if random.random() < 0.7 else random.choice((*SEQUENCES, k - 1, k + 100))
        time = k * 10**6 if random.random() < 0.7 else random.choice(TIMES)
        other = kind if random.random() < 0.9 else random.randrange(5)
        legs = LEGS if random.random() < 0.9 else random.randrange(16)
        data = bytearray(datagram(random, other, sequence, time, legs))
        change = random.random()
        if change < 0.05:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        elif change < 0.1:
            data = data[: random.randrange(len(data))]
        elif change < 0.15:
            data += random.randbytes(random.choice((1, 8, 3000)))
        yield bytes(data)
        if random.random() < 0.05:
            yield bytes(data)


@contextmanager
def received(random, kind, name, count):
    """Yield the samples that a link takes of what two senders send; none may be uncounted."""
    with ExitStack() as stack:
        link = UdpLink(LOCAL, LEGS, name)
        stack.callback(link.close)
        senders = [
            stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)
        ]
        sent = 0

        def taken():
            nonlocal sent
            for data in datagrams(random, kind, count):
                senders[random.random() < 0.1].sendto(data, link.address)
                sent += 1
                if (sample := link.receive(0.0)) is not None:
                    yield sample
            while (sample := link.receive(0.0)) is not None:
                yield sample

        yield taken()
        counts = link.counts
        found = counts.received + counts.doubled + counts.reordered
        check(found + counts.malformed + counts.foreign == sent, f"{sent} sent, {counts}")
        told = sum(counts.reasons.values())
        check(told == counts.malformed + counts.foreign, f"{counts.reasons} of {counts}")


def watched(random):
    """Let a shadow watch such datagrams, with telemetry and a log."""
    shadow = shadow_of(random.choice(MACHINES))
    shadow.reset()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        telemetry = UdpLink(LOCAL, LEGS, "command")
        stack.callback(telemetry.close)
        telemetry.peer = Address("127.0.0.1", 9)
        endings = [".csv", *([".mcap"] if find_spec("mcap") else [])]
        recorder = LogRecorder(Path(folder) / f"run{random.choice(endings)}", {})
        source = open_source("udp://127.0.0.1:0", shadow.machine)
        stack.callback(source.close)
        session = ShadowSession(shadow, source, telemetry=telemetry, recorder=recorder)
        with received(random, 2, "measurement", 120) as samples:
            for sample in samples:
                state = session.process(sample)
                for part in state or ():
                    check(not isinstance(part, np.ndarray) or np.isfinite(part).all(), "NaN")
        written = session.finish()
        check((written is None) == (session.updates == 0), "no log")
        if written is not None:
            check(sum(map(len, read_log(written).channels)) > 0, "an empty log")


def shadowed(random):
    """Let a shadow take samples of a machine at home, some fields of which are anything."""
    shadow = shadow_of(*random.choice([*((name,) for name in MACHINES), ("stewart", "force")]))
    shadow.reset(learning=random.choice((0.05, 20.0)))
    machine, time = shadow.machine, random.choice((0.0, 1.7e9))
    home = machine.home_coordinates
    for k in range(random.choice((40, 1300))):
        time += (
            1e-3 if random.random() < 0.98 else random.choice((0.0, -0.5, 0.02, 30.0, -1e3, 1e10))
        )
        moved = home + 1e-3 * np.sin(0.02 * k + np.arange(len(home)))
        values = {"coordinates": moved, "setpoint": moved, "pose": machine.home}
        if random.random() < 0.2:
            name = random.choice(sorted(FIELD_WIDTHS))
            width = width_of(name, LEGS) if random.random() < 0.9 else random.randrange(9)
            values[name] = np.full(width, random.choice((*NUMBERS, 1e8, -1e8, home[0])))
        if random.random() < 0.05:  # one leg alone
            one = np.arange(LEGS) == random.randrange(LEGS)
            values["coordinates"] = np.where(one, random.choice(NUMBERS), moved)
        state = random.choice((*("running",) * 30, "stopped"))
        sample = Sample("measurement", time, values, k, 0, state)
        for part in shadow.update(sample):
            check(not isinstance(part, np.ndarray) or np.isfinite(part).all(), "NaN")


def commanded(random):
    """Let an emulated machine take such datagrams, and record it."""
    machine = EmulatedMachine(twin.load("stewart"))
    encoder = Encoder(LEGS)
    try:
        with tempfile.TemporaryDirectory() as folder, received(random, 1, "command", 40) as samples:
            recording = Recording(
                machine.platform, machine.period, LogRecorder(Path(folder) / "run.csv", {})
            )
            count = 0
            for sample in samples:
                recording.add(decode(bytes(encoder.encode(machine.step(sample)))))
                count += 1
            written = recording.finish()
            rows = 0 if written is None else len(read_log(written)["coordinates"])
            check(rows == count, f"{rows} rows of {count} samples")
    finally:
        machine.close()


def ordered(random):
    """Let samples arrive in any order: no number is handed on below an earlier one."""
    counts = Counts()
    arrivals, last, restarted = Arrivals(counts), -1, 0
    delays = [random.choice((0.0, 0.0, 0.0, 0.1, 0.9)) for _ in range(500)]
    sent = sorted((1e-3 * k + delay, k) for k, delay in enumerate(delays))
    for arrival, k in sent:
        if arrivals.accept(Sample("command", 1e-3 * k, {}, k), arrival):
            check(k > last, f"{k} after {last}")
            last = k
        restarted = counts.restarted
    check(restarted == 0 and counts.lost == 0, f"nothing was lost: {counts}")


QUICK = {
    "watched": watched,
    "commanded": commanded,
    "ordered": ordered,
    "shadowed": shadowed,
}


def link_input(random):
    """Return a name and a call that uses a link which goes wrong."""
    name = random.choice(sorted(QUICK))
    return name, lambda: QUICK[name](random)


class Killed(NamedTuple):
    """A recording command that was ended by a signal."""

    command: str
    signal: int
    sent: int
    """samples that it had sent, or replied to"""
    kept: int
    """samples in the file that is left"""

    @property
    def lost(self):
        """[s] of the samples that are in no file."""
        return (self.sent - self.kept) / RATE


def forked(words, output):
    """Run a command in a copy of this process, which has loaded everything; return its number."""
    number = os.fork()
    if number:
        return number
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for each in (*SIGNALS[:2], signal.SIGINT):
            signal.signal(each, signal.SIG_DFL)
        handle = os.open(output, os.O_WRONLY | os.O_CREAT)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
        from twin.cli import app

        app(words, standalone_mode=False)
    finally:
        os._exit(0)


def killed(command, number, moment, folder, ending=".csv"):
    """Return what is left of a command that is ended after so many samples."""
    log, output = folder / f"run{ending}", folder / "output.txt"
    measured = UdpLink(LOCAL, LEGS, "measurement" if command == "emulate" else "estimate")
    process = 0
    try:
        if command == "emulate":
            words = ["--listen", "127.0.0.1:0", "--to", str(measured.address)]
            process = forked(["emulate", "stewart", *words, "--log", str(log)], output)
            sent = _counted(measured, moment)
        else:
            limits = write_thresholds(INFINITE_THRESHOLDS, folder / "limits.toml")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                free.bind(tuple(LOCAL))
                address = Address(*free.getsockname())
            words = ["--source", f"udp://{address}", "--telemetry", f"udp://{measured.address}"]
            words += ["--thresholds", str(limits), "--log", str(log)]
            process = forked(["shadow", "stewart", *words], output)
            sent = _fed(measured, address, moment)
        os.kill(process, number)
        os.waitpid(process, 0)
        process = 0
        while (sample := measured.receive(0.0)) is not None:
            sent = max(sent, sample.sequence)
    finally:
        if process:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        measured.close()
    there = [each for each in files_of(log)[:2] if each.exists()]
    kept = max((_rows(each) for each in there), default=0)
    return Killed(command, number, sent, kept)


def _rows(path):
    log = read_log(path)
    return len(log["coordinates"]) if "coordinates" in log else 0


def _counted(measured, moment):
    """Return the number of the last sample that came, after so many."""
    last = 0
    while last < moment:
        sample = measured.receive(WAIT)
        check(sample is not None, "no measurement came")
        last = 0 if sample is None else sample.sequence
    return last


def _fed(estimated, address, moment):
    """Send so many samples, each after the estimate of the one before; return their number."""
    home = twin.load("stewart").home_coordinates
    for k in range(1, moment + 1):
        sample = Sample("measurement", k / RATE, {"coordinates": home, "setpoint": home}, k)
        estimated.send(sample, address)
        while estimated.receive(0.1 if k == 1 else WAIT) is None:
            check(k == 1, "no estimate came")
            estimated.send(sample, address)  # it does not listen yet
    return moment


def killed_input(random):
    """Return a command and a call that ends it at a random moment, or a server that dies."""
    kinds = ["emulate", "shadow", *(["opcua"] if find_spec("asyncua") else [])]
    name = random.choice(kinds)
    if name == "opcua":
        return name, lambda: served(random)
    number, moment = random.choice(SIGNALS), random.randint(1, 1500)

    def call():
        with tempfile.TemporaryDirectory() as folder:
            found = killed(name, number, moment, Path(folder))
            check(found.lost <= (1.0 if number == signal.SIGKILL else 0.0), str(found))

    return f"{name}, {signal.Signals(number).name}", call


def served(random):
    """Read a server of OPC UA that dies, and that begins again or does not."""
    machine, port = twin.load("stewart"), free_port(socket.SOCK_STREAM)
    coordinates = [random.choice(NUMBERS)] * random.choice((5, LEGS, LEGS))
    with OpcUaServer({"coordinates": coordinates}, port):
        source = open_source(f"opcua://127.0.0.1:{port}", machine)
        source.receive(0.1)
    try:
        while not source.counts.restarted:
            source.receive(0.2)
            if source.counts.reasons:
                break
        check(source.counts.lost == 0, "polls are no samples")
    finally:
        source.close()
