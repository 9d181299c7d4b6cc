"""Ways to make a machine or a formula wrong."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from mutations.kernels import clear_caches, compiled_anew, import_all_modules

Content = dict[str, Any]


class Numbers(NamedTuple):
    """A change of the numbers of a platform.toml, SI units, all fields present."""

    change: Callable[[Content], None]


class Formula(NamedTuple):
    """A change of the source of one function; `old` occurs in it once."""

    function: str
    """dotted path, of a method with its class"""
    old: str
    new: str


class Value(NamedTuple):
    """Another value of a constant of a module."""

    constant: str
    """dotted path"""
    value: Any


def number(path: str, change: Callable[[Any], Any]) -> Numbers:
    """Return the change of one entry, `path` with dots, to `change(entry)`."""
    *parents, last = path.split(".")

    def apply(content: Content) -> None:
        for parent in parents:
            content = content[int(parent)] if parent.isdigit() else content[parent]
        content[last] = change(content[last])

    return Numbers(apply)


def times(path: str, factor: float) -> Numbers:
    """Return the change of a number by a factor."""
    return number(path, lambda value: value * factor)


def to(path: str, value: Any) -> Numbers:
    """Return the change of an entry to a value."""
    return number(path, lambda _: value)


def inertia(path: str, row: int, column: int, factor: float) -> Numbers:
    """Return the change of one entry of a tensor, and of its mirror image, by a factor."""

    def scaled(rows: Any) -> Any:
        tensor = np.array(rows)
        tensor[row, column] *= factor
        tensor[column, row] = tensor[row, column]
        return tensor.tolist()

    return number(path, scaled)


def joint(leg: int, shift: tuple[float, float, float], *sides: str) -> Numbers:
    """Return the shift [m] of one leg's joint at the `base`, the `platform` or both."""

    def apply(content: Content) -> None:
        for side in sides:
            points = joints_of(content[side]["joints"])
            points[leg - 1] += shift
            content[side]["joints"] = {"layout": "points", "coordinates": points.tolist()}
            source = content[side].get("source")
            content[side]["joints"] |= {"source": source}

    return Numbers(apply)


def joints_of(layout: Content) -> Any:
    """Return the points `(n, 3)` [m] of a layout in a machine's content."""
    from twin.machine.layout.joints import PairedCircle, PointList

    kind = PointList if layout["layout"] == "points" else PairedCircle
    return np.array(kind.model_validate(layout).points)


def one_leg(leg: int, path: str, factor: float) -> Numbers:
    """Return the change of a number of one leg alone, `path` in its table, by a factor."""
    from copy import deepcopy

    def apply(content: Content) -> None:
        own = {"leg": deepcopy(content["leg"])}
        times(f"leg.{path}", factor).change(own)
        content["variant"] = [{"legs": [leg], "leg": own["leg"], "source": "one leg changed"}]

    return Numbers(apply)


Change = Numbers | Formula | Value


@contextmanager
def applied(change: Formula | Value, *, compiling: bool = True) -> Iterator[None]:
    """Put a wrong function or constant in place, wherever the package has imported it.

    Kernels that use it are compiled again where `compiling` is set.
    """
    import_all_modules()
    holder, name = _holder(change.function if isinstance(change, Formula) else change.constant)
    original = inspect.getattr_static(holder, name)
    wrong = change.value if isinstance(change, Value) else _rewritten(holder, name, change)
    again = compiled_anew(name, original) if compiling else nullcontext()
    with again, ExitStack() as stack:
        for place in {id(place): place for place in (holder, *_importers(name, original))}.values():
            stack.enter_context(patch.object(place, name, wrong))
        clear_caches()
        yield
    clear_caches()


def _holder(path: str) -> tuple[Any, str]:
    """Return the module or class, and the name in it."""
    parts = path.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            holder: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:-1]:
            holder = getattr(holder, part)
        return holder, parts[-1]
    raise AssertionError(path)


def changed_source(change: Formula) -> str:
    """Return the source of the wrong function."""
    holder, name = _holder(change.function)
    original = inspect.getattr_static(holder, name)
    function = getattr(original, "fget", None) or getattr(original, "py_func", original)
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    assert source.count(change.old) == 1, f"{change.function} has not one {change.old!r}"
    return source.replace(change.old, change.new)


def _rewritten(holder: Any, name: str, change: Formula) -> Any:
    module = holder if isinstance(holder, ModuleType) else sys.modules[holder.__module__]
    made: dict[str, Any] = {}
    header = "from __future__ import annotations\n"
    exec(header + changed_source(change), vars(module), made)
    return made[name]


def _importers(name: str, original: Any) -> Iterator[ModuleType]:
    for path, module in list(sys.modules.items()):
        if path.startswith("twin.") and vars(module).get(name) is original:
            yield module
