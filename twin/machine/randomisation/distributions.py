"""Distributions of one number: bounded, drawn from one uniform number each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from twin.errors import InputError
from twin.machine.quantity import Table, field_unit, tables_in

MIN_PROBABILITY = 1e-6
"""Smallest probability of a normal distribution that may lie between its bounds."""

DEFAULT_BOUND = 3.0
"""Standard deviations from the mean at which a normal distribution is cut if it names no bound."""

STRUCTURE_FIELDS = {
    "source", "configuration", "variant", "orientation",
    "shift", "order", "mirrored", "fixed_foot",
}  # fmt: skip
"""Fields that say which joint or leg is meant, or whose entries cannot change one by one."""


class Distribution(BaseModel):
    """Distribution of one number, or of its difference to the machine's own.

    A draw is the number itself in SI; with `relative` a factor on the machine's number; with
    `offset` what is added to it, in SI. With `each_leg` every leg has a draw of its own. Numbers
    for parameters that are whole are rounded.

    Raises:
        InputError: unknown or missing fields, or values that make no distribution.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    relative: bool = Field(False, description="Draws are factors on the machine's number")
    offset: bool = Field(False, description="Draws are added to the machine's number")
    each_leg: bool = Field(False, description="Every leg has a draw of its own")

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            first_error = error.errors(include_url=False)[0]
            field = ".".join(map(str, first_error["loc"])) or type(self).__name__
            raise InputError(field, first_error["msg"].removeprefix("Value error, ")) from None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.relative and self.offset:
            raise ValueError("relative and offset exclude each other; keep one")
        return self

    def applied(self, draw: float, nominal: float) -> float:
        """Return the parameter's value (SI) for a draw and the machine's own value."""
        if self.relative:
            return nominal * draw
        return nominal + draw if self.offset else draw


class _Range(Distribution):
    low: float = Field(description="Least draw")
    high: float = Field(description="Greatest draw")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.high:
            raise ValueError("low must not exceed high")
        return self

    @property
    def extremes(self) -> tuple[float, ...]:
        """The least and the greatest draw."""
        return self.low, self.high

    def _between(self, fraction: float) -> float:
        """Return the draw at a `fraction` (0 to 1) of the distribution."""
        raise NotImplementedError

    def draw(self, generator: np.random.Generator) -> float:
        """Return one draw, made from one uniform number of the generator."""
        # Rounding must not carry a draw past the bounds that were checked.
        return min(max(self._between(generator.random()), self.low), self.high)


class Uniform(_Range):
    """All draws from `low` to `high` are equally likely."""

    kind: Literal["uniform"] = Field("uniform", description="Kind of distribution")

    def _between(self, fraction: float) -> float:
        return self.low + fraction * (self.high - self.low)


class LogUniform(_Range):
    """The logarithm of the draw is uniform between those of `low` and `high`."""

    kind: Literal["log_uniform"] = Field("log_uniform", description="Kind of distribution")

    @model_validator(mode="after")
    def _above_zero(self) -> Self:
        if not self.low > 0.0:
            raise ValueError("low must be above zero")
        return self

    def _between(self, fraction: float) -> float:
        return self.low * math.exp(fraction * math.log(self.high / self.low))


class Normal(Distribution):
    """A normal distribution cut at `low` and `high`; at three deviations where one is left out.

    The distribution is truncated, not clipped: no draws accumulate at the bounds.
    """

    kind: Literal["normal"] = Field("normal", description="Kind of distribution")
    mean: float = Field(description="Mean before the cut")
    deviation: float = Field(gt=0, description="Standard deviation before the cut")
    low: float | None = Field(None, description="Least draw")
    high: float | None = Field(None, description="Greatest draw")

    @model_validator(mode="after")
    def _likely(self) -> Self:
        """Check that the bounds leave something to draw."""
        low_probability, high_probability = self._shares
        if not high_probability - low_probability >= MIN_PROBABILITY:
            raise ValueError(
                f"less than {MIN_PROBABILITY:g} of the distribution lies between low and high; "
                "widen them"
            )
        return self

    @property
    def extremes(self) -> tuple[float, ...]:
        """The least and the greatest draw."""
        low = self.mean - DEFAULT_BOUND * self.deviation if self.low is None else self.low
        high = self.mean + DEFAULT_BOUND * self.deviation if self.high is None else self.high
        return low, high

    @property
    def _shares(self) -> tuple[float, float]:
        """Probabilities of the untruncated distribution below the smallest and the largest draw."""
        normal = NormalDist(self.mean, self.deviation)
        lower, upper = self.extremes
        return normal.cdf(lower), normal.cdf(upper)

    def draw(self, generator: np.random.Generator) -> float:
        """Return one draw, made from one uniform number of the generator."""
        low_probability, high_probability = self._shares
        probability = low_probability + generator.random() * (high_probability - low_probability)
        lower, upper = self.extremes
        if not 0.0 < probability < 1.0:
            return lower if probability <= 0.0 else upper
        return min(max(NormalDist(self.mean, self.deviation).inv_cdf(probability), lower), upper)


class Choice(Distribution):
    """A draw from a list of values, all equally likely."""

    kind: Literal["choice"] = Field("choice", description="Kind of distribution")
    values: tuple[float, ...] = Field(min_length=1, description="Draws, in SI")

    @property
    def extremes(self) -> tuple[float, ...]:
        """All draws."""
        return self.values

    def draw(self, generator: np.random.Generator) -> float:
        """Return one draw, made from one uniform number of the generator."""
        return self.values[int(generator.random() * len(self.values))]


AnyDistribution = Uniform | LogUniform | Normal | Choice

DISTRIBUTION_TYPES: dict[str, type[AnyDistribution]] = {
    "uniform": Uniform,
    "log_uniform": LogUniform,
    "normal": Normal,
    "choice": Choice,
}
"""Distributions by their kind."""


Keys = tuple[str, ...]
Changes = dict[str, Any]
"""New numbers by key, in a dictionary for every table and list between."""


def leaf(owner: Any, keys: Keys) -> int | float | None:
    """Return the number at `keys` of a table, None if there is none."""
    if _below_diagonal(keys):
        return None
    for key in keys:
        owner = _child(owner, key)
    return owner if _is_number(owner) else None


def unset(owner: Any, keys: Keys) -> bool:
    """Return whether a table has a field for a number at `keys` that the file leaves out."""
    for key in keys[:-1]:
        owner = _child(owner, key)
    if not isinstance(owner, Table) or keys[-1] in STRUCTURE_FIELDS:
        return False
    field = type(owner).model_fields.get(keys[-1])
    if field is None or getattr(owner, keys[-1]) is not None:
        return False
    return not any(tables_in(field.annotation))


def unit_of(owner: Any, keys: Keys) -> str:
    """Return the SI unit of the number at `keys` of a table; empty for none."""
    unit = ""
    for key in keys:
        if isinstance(owner, Table):
            unit = field_unit(type(owner).model_fields[key])
        owner = _child(owner, key)
    return unit


def leaves(owner: Any, keys: Keys = ()) -> Iterator[str]:
    """Yield the dotted path of every number inside a table; of tensors the upper triangle."""
    if _is_number(owner) and not _below_diagonal(keys):
        yield ".".join(keys)
    names: Any = ()
    if isinstance(owner, Table):
        names = type(owner).model_fields
    elif isinstance(owner, tuple):
        names = map(str, range(len(owner)))
    for name in names:
        yield from leaves(_child(owner, name), (*keys, name))


def note(changes: Changes, keys: Keys, value: float | str) -> None:
    """Add a new number to `changes`, on both sides of the diagonal of a tensor."""
    symmetric_keys = [keys]
    if keys[-3:-2] == ("inertia",):
        symmetric_keys.append((*keys[:-2], keys[-1], keys[-2]))
    for symmetric_key in symmetric_keys:
        table = changes
        for key in symmetric_key[:-1]:
            table = table.setdefault(key, {})
        table[symmetric_key[-1]] = value


def changed(owner: Any, changes: Any) -> Any:
    """Return a table as a dictionary, or a tuple as a list, with changes.

    What is inside and does not change stays the object it is, which the models take as checked.
    """
    if isinstance(owner, tuple):
        content: Any = list(owner)
        for key, change in changes.items():
            content[int(key)] = changed(owner[int(key)], change)
        return content
    if not isinstance(owner, Table):
        return changes
    content = fields(owner)
    for key, change in changes.items():
        content[key] = changed(content[key], change)
    return content


def fields(table: Table) -> Changes:
    """Return the fields of a table by name, as they are."""
    return {name: getattr(table, name) for name in type(table).model_fields}


def _child(owner: Any, key: str) -> Any:
    """Return the entry of a table or list by its key; None where it is no parameter."""
    if isinstance(owner, Table):
        is_parameter = (
            key in type(owner).model_fields and key not in STRUCTURE_FIELDS | owner.derived
        )
        return getattr(owner, key) if is_parameter else None
    if isinstance(owner, tuple) and key in map(str, range(len(owner))):
        return owner[int(key)]
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _below_diagonal(keys: Keys) -> bool:
    return keys[-3:-2] == ("inertia",) and keys[-2] > keys[-1]
