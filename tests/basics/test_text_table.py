"""Text tables as programs write them: encoding, delimiter, decimals and header are found."""

from itertools import product

import pytest
from refusals import refused

from twin.basics.text_table import TextTable, parse_time

pytestmark = pytest.mark.quick

HEADER = ("Zeit [s]", "Höhe [mm]", "Nick [deg]")
NUMBERS = [(0.0, 1.5, -0.25), (0.5, 2.5, 0.75), (1.0, 3.5, 1.25)]
PREAMBLES = {"none": "", "comment": "# logged by PLC 7\n", "words": "PLC 7\nMachine;Workshop\n\n"}


def written(delimiter, decimal, preamble):
    """Return a table as a program writes it."""
    rows = [delimiter.join(f"{x:.3f}".replace(".", decimal) for x in row) for row in NUMBERS]
    return preamble + "\n".join([delimiter.join(HEADER), *rows]) + "\n"


def test_every_way_of_writing_gives_the_same_table(subtests, tmp_path):
    for preamble in PREAMBLES:
        for encoding in ["utf-8", "utf-8-sig", "utf-16", "cp1252"]:
            with subtests.test(f"{preamble}, {encoding}"):
                path = tmp_path / "table.csv"
                for delimiter, decimal in product(",;\t|", ".,"):
                    if delimiter == decimal:
                        continue
                    text = written(delimiter, decimal, PREAMBLES[preamble])
                    path.write_bytes(text.encode(encoding))
                    table = TextTable(path)
                    assert table.layout.names == HEADER, (delimiter, decimal)
                    rows = list(table.rows())
                    assert [tuple(map(float, cells)) for _, cells in rows] == NUMBERS, (
                        delimiter,
                        decimal,
                    )
                    lines = text.splitlines()
                    assert [
                        lines[line - 1].split(delimiter)[0].replace(",", ".") for line, _ in rows
                    ] == [
                        "0.000",
                        "0.500",
                        "1.000",
                    ]


def test_times_are_numbers_or_dates(subtests):
    for cell, seconds in [
        ("12.5", 12.5),
        ("1970-01-02T00:00:01.5Z", 86401.5),
        ("1970-01-02T01:00:00.25+01:00", 86400.25),
        ("1970-01-01 00:01:00", 60.0),
    ]:
        with subtests.test(f"{cell}"):
            assert parse_time(cell) == seconds


def test_only_the_begin_of_a_file_tells_its_encoding(tmp_path):
    """A large log is read once; what a byte further down means is left to its cell."""
    path = tmp_path / "table.csv"
    rows = b"0.0;1\n" * 200_000
    path.write_bytes("Höhe;Zahl\n".encode() + rows + b"0.0;\xff\n")
    table = TextTable(path)
    assert table.layout.names == ("Höhe", "Zahl")
    assert sum(1 for _ in table.rows()) == 200_001


def test_files_that_are_no_tables_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    for content, words in (
        (b"", "is empty"),
        (b"\n ; \n", "is empty"),
        (bytes(range(64)) * 4, "is no text"),
    ):
        path.write_bytes(content)
        with refused(words):
            TextTable(path)
    with refused("is no file"):
        TextTable(tmp_path)
