"""Cards of all machines: picture, title and result of the validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handbook.markdown import plain

CARD = """:::{{container}} card
![{name}](_generated/pictures/{picture})

**[{name}](_generated/machines/{name}.md)**

{title}. {dof} degrees of freedom, {actuators} actuators. {passed} of {judged} judged measures pass.
:::
"""


def gallery(machines: Sequence[Mapping[str, Any]], pictures: Mapping[str, Path]) -> str:
    """Return one card for each machine.

    Args:
        machines: their parts of the report.
        pictures: files by machine.
    """
    cards = []
    for machine in machines:
        counts = machine["counts"]["measures"]
        cards.append(
            CARD.format(
                name=machine["name"],
                picture=pictures[machine["name"]].name,
                title=plain(machine["title"]),
                dof=machine["dof"],
                actuators=machine["actuators"],
                passed=counts["pass"],
                judged=counts["pass"] + counts["fail"],
            )
        )
    return "::::{container} cards\n" + "\n".join(cards) + "::::\n"
