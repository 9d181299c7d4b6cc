"""Variants: legs that differ from the machine's `[leg]` table."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from twin.machine.legs import LEG_KINDS
from twin.machine.legs.leg import Leg
from twin.machine.quantity import Whole
from twin.machine.table import Table, merged, problem

if TYPE_CHECKING:
    AnyLeg = Leg
else:
    PARAMETERS = [kind.parameters for kind in LEG_KINDS.values()]
    AnyLeg = Annotated[reduce(or_, PARAMETERS), Field(discriminator="kind")]
    """One leg, of the kind that its field `kind` names."""


class Variant(Table):
    """Legs that differ from the others.

    In a file its other entries are those of `[leg]` that differ; here `leg` is the complete leg.
    """

    legs: tuple[Whole, ...] = Field(min_length=1, description="Legs (from 1) that differ")
    leg: AnyLeg = Field(description="The complete leg")


def complete_variants(content: Any) -> Any:
    """Return the content of a file whose variants hold complete legs instead of differences.

    Variants that are complete stay as they are, and so does what is no table: the models refuse it.
    Without a table `[leg]`, which they refuse too, there is nothing to complete.
    """
    if not isinstance(content, dict) or "variant" not in content:
        return content
    leg, variants = content.get("leg"), content["variant"]
    if not isinstance(variants, (list, tuple)):
        raise problem("variant", "must be a list of tables, each headed [[variant]]")
    if not isinstance(leg, dict):
        return {key: value for key, value in content.items() if key != "variant"}
    return content | {"variant": [_complete(i, leg, entry) for i, entry in enumerate(variants)]}


def _complete(index: int, leg: dict[str, Any], variant: Any) -> Any:
    if not isinstance(variant, dict) or "leg" in variant:
        return variant
    change = {key: value for key, value in variant.items() if key not in ("legs", "source")}
    kind = change.get("kind", leg.get("kind"))
    if kind != leg.get("kind"):
        raise problem(
            f"variant.{index}.kind",
            f"all legs of a machine are of one kind, {leg.get('kind')!r}; remove it",
        )
    frame = {key: variant[key] for key in ("legs", "source") if key in variant}
    return frame | {"leg": merged(leg, change, variant.get("source"))}


def check_variants(variants: tuple[Variant, ...], count: int) -> None:
    """Raise a problem unless every variant speaks of legs 1 to `count`, each in one only."""
    seen: dict[int, int] = {}
    for index, variant in enumerate(variants):
        for number in variant.legs:
            if not 1 <= number <= count:
                raise problem(f"variant.{index}.legs", f"there is no leg {number} of {count}")
            if number in seen:
                raise problem(
                    f"variant.{index}.legs", f"leg {number} is listed before; list each leg once"
                )
            seen[number] = index


def all_legs(leg: Leg, variants: tuple[Variant, ...], count: int) -> tuple[Leg, ...]:
    """Return one complete leg per leg."""
    if not variants:
        return (leg,) * count
    special = {number: variant.leg for variant in variants for number in variant.legs}
    return tuple([special.get(number, leg) for number in range(1, count + 1)])
