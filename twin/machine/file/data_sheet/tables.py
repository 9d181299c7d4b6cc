"""Tables of a written platform.toml: texts, and bodies with their source."""

from __future__ import annotations

import json

from twin.machine.file.data_sheet.estimates import Body

SHEET = "Data sheet"


def quoted(text: str | None) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def body_table(table: str, body: Body, source: str) -> str:
    """Return the table of a rigid body."""
    moments = ", ".join(f"{value:.6g}" for value in body.tensor)
    return f"""\
[{table}]
source = {quoted(source)}
kind = "rigid"
mass = {body.mass:.6g}  # kg
center_of_mass = [0.0, 0.0, {body.center:.6g}]
inertia = [{moments}]  # kg m2, about the centre of mass
"""
