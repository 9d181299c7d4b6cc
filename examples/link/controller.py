"""A controller on the link of a machine: sends setpoints of a sine, in plain Python.

Usage: python controller.py [HOST [PORT [SECONDS]]], beside `twin emulate stewart`.
"""

import socket
import struct
import sys
import time
from math import cos, pi, sin
from zlib import crc32

COMMAND, MEASUREMENT = 1, 2
COORDINATES, SETPOINT, COMMAND_RATES = 1 << 0, 1 << 10, 1 << 11
HEADER = struct.Struct("<4sIBBBBIQII")
WIDTHS = (0, 0, 0, 0, 0, 7, 6, 6, 3, 3, 0, 0, 0, 7, 0, 9)  # 0: one number for each leg


def encode(legs, sequence, stamp, mask, values):
    """Return the datagram of a command; values in the order of the bits of the mask."""
    head = (2, COMMAND, legs, 0, sequence, stamp, 0, mask)
    body = struct.pack(f"<BBBBIQII{len(values)}d", *head, *values)
    return struct.pack("<4sI", b"TWIN", crc32(body)) + body


def decode(data):
    """Return legs, stamp [ns], acknowledged sequence and fields by bit; None for what is none."""
    if len(data) < HEADER.size:
        return None
    magic, checksum, version, kind, legs, _, _, stamp, acknowledged, mask = HEADER.unpack_from(data)
    widths = {bit: width or legs for bit, width in enumerate(WIDTHS) if mask >> bit & 1}
    if magic != b"TWIN" or version != 2 or kind != MEASUREMENT or checksum != crc32(data[8:]):
        return None
    if len(data) != HEADER.size + 8 * sum(widths.values()):
        return None
    fields, place = {}, HEADER.size
    for bit, width in widths.items():
        fields[1 << bit] = struct.unpack_from(f"<{width}d", data, place)
        place += 8 * width
    return legs, stamp, acknowledged, fields


def main(host="127.0.0.1", port="5005", seconds="5", amplitude=0.01, frequency=0.5):
    """Move all legs by a sine about where they are, and print errors and round trips."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((host, int(port)))
    link.settimeout(1.0)
    sequence, first, stamp, sent, trips, errors = 0, None, 0, {}, [], [0.0]
    legs, mask, values = 6, 0, ()  # a command without a field: hold, and send measurements
    while first is None or stamp < first + float(seconds) * 1e9:
        sequence += 1
        link.send(encode(legs, sequence, time.monotonic_ns(), mask, values))
        sent[sequence] = time.perf_counter()
        try:
            while (found := decode(link.recv(2000))) is None:
                pass
        except OSError:
            sys.exit(f"no machine responds on {host}:{port}; start twin emulate first")
        legs, stamp, acknowledged, fields = found
        now, coordinates = time.perf_counter(), fields[COORDINATES]
        if acknowledged in sent:
            trips.append(now - sent.pop(acknowledged))
        if first is None:
            first, middle = stamp, coordinates
        errors += [abs(a - b) for a, b in zip(coordinates, values, strict=False)]
        phase = 2.0 * pi * frequency * 1e-9 * (stamp - first)
        speed = amplitude * 2.0 * pi * frequency * cos(phase)
        values = [each + amplitude * sin(phase) for each in middle] + [speed] * legs
        mask = SETPOINT | COMMAND_RATES
    middle_trip, longest = 1e3 * sorted(trips)[len(trips) // 2], 1e3 * max(trips)
    print(f"{sequence} commands, largest error {1e3 * max(errors):.3g} mm")
    print(f"round trip: median {middle_trip:.3g} ms, longest {longest:.3g} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
