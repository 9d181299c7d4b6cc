"""Datagrams: what is encoded is decoded, and any bytes give a sample or a refusal."""

import struct
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import assert_all_refused, refused

from twin.errors import InputError
from twin.link.protocol import (
    FIELD_WIDTHS,
    HEADER,
    MAX_DATAGRAM_SIZE,
    MAX_LEGS,
    Encoder,
    Sample,
    decode,
    width_of,
)
from twin.logs import signal_units

pytestmark = pytest.mark.quick

LEGS = 6
NUMBER = struct.Struct("<d")


def filled(legs, *names):
    """Return values of fields, poses with unit quaternions."""
    random = np.random.default_rng(legs)
    found = {name: random.standard_normal(width_of(name, legs)) for name in names}
    for name in found.keys() & {"pose", "reference_pose"}:
        found[name][3:] /= np.linalg.norm(found[name][3:])
    return found


def test_a_sample_survives(subtests):
    for legs in [1, 3, 6, MAX_LEGS]:
        with subtests.test(f"{legs}"):
            sent = Sample(
                "measurement", 12.000000345, filled(legs, *FIELD_WIDTHS), 2**32 - 1, 77, "holding"
            )
            got = decode(bytes(Encoder(legs).encode(sent)))
            assert got._replace(values={}) == sent._replace(values={})
            assert list(got.values) == list(FIELD_WIDTHS)
            for name, value in sent.values.items():
                np.testing.assert_allclose(got.values[name], value, rtol=1e-15, atol=0.0)
                assert not got.values[name].flags.writeable


def test_bytes_are_those_of_the_table():
    rates = np.arange(1.0, 7.0)
    data = bytes(Encoder(LEGS).encode(Sample("command", 1.5, {"command_rates": rates}, 5, 9)))
    assert data[:4] == b"TWIN"
    assert struct.unpack_from("<I", data, 4)[0] == crc32(data[8:])
    assert data[8:12] == bytes([2, 1, 6, 0])
    assert struct.unpack_from("<I", data, 12)[0] == 5
    assert struct.unpack_from("<Q", data, 16)[0] == 1_500_000_000
    assert struct.unpack_from("<II", data, 24) == (9, 1 << 11)
    assert struct.unpack_from("<6d", data, 32) == tuple(rates)
    assert len(data) == 80


def test_fields_are_signals_of_a_log(stewart):
    units = signal_units(stewart)
    assert set(FIELD_WIDTHS) - set(units) == {"residuals", "alarms"}
    for name in FIELD_WIDTHS.keys() & units.keys():
        assert width_of(name, stewart.n_actuators) == len(units[name]), name
    assert MAX_DATAGRAM_SIZE <= 1472


def test_one_flipped_bit_is_refused():
    data = bytes(Encoder(LEGS).encode(Sample("measurement", 1.0, filled(LEGS, "pose", "forces"))))
    for place in range(8 * len(data)):
        spoilt = bytearray(data)
        spoilt[place // 8] ^= 1 << place % 8
        with refused():
            decode(bytes(spoilt))


@st.composite
def datagrams(draw):
    """Draw headers with a right checksum, so that what follows it is reached."""
    legs, mask = draw(st.integers(0, 14)), draw(st.integers(0, 2 ** len(FIELD_WIDTHS)))
    count = draw(st.integers(0, 150))
    numbers = draw(st.lists(st.floats(), min_size=count, max_size=count))
    if draw(st.booleans()):
        count = sum(
            (mask >> bit & 1) * (width or legs) for bit, width in enumerate(FIELD_WIDTHS.values())
        )
        numbers = (numbers + [0.5] * count)[:count]
    small = st.integers(0, 4)
    head = (draw(st.integers(1, 2)), draw(small), legs, draw(small))
    rest = (draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 2**64 - 1)), 0, mask)
    body = HEADER.pack(b"TWIN", 0, *head, *rest) + b"".join(map(NUMBER.pack, numbers))
    return body[:4] + crc32(body[8:]).to_bytes(4, "little") + body[8:]


@given(st.one_of(st.binary(max_size=1600), datagrams()))
@settings(max_examples=100, deadline=None)
def test_any_bytes_give_a_sample_or_a_refusal(data):
    try:
        sample = decode(data)
    except InputError as error:
        assert error.field
        return
    assert all(np.isfinite(value).all() for value in sample.values.values())
    legs = data[10]
    again = decode(bytes(Encoder(legs).encode(sample)))
    assert again._replace(values={}, time=0.0) == sample._replace(values={}, time=0.0)


def test_what_no_datagram_holds_is_named():
    assert_all_refused(
        lambda time, values: Encoder(LEGS).encode(Sample("command", time, values)),
        [
            (0.0, {"coordinates": np.zeros(5)}, "coordinates"),
            (0.0, {"rates": np.full(6, np.nan)}, "values"),
            (0.0, {"colour": np.zeros(6)}, "values"),
            (float("nan"), {}, "time"),
        ],
    )
    with refused("legs"):
        Encoder(0)
