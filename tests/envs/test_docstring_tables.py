"""The tables in the environments' docstrings, held against what the environments are.

Sizes, units and scales are those of each environment's usual machine; numbers must agree in all
digits that the table gives.
"""

from __future__ import annotations

import inspect
import re
from itertools import pairwise
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from twin.envs import ENVIRONMENTS, environment_ids
from twin.envs.environment import PlatformEnv

TABLES = ("Actions", "Observations", "Reward terms", "Ends", "Info", "Options")

FEWEST_DIGITS = 2
"""Digits that a number must have at least, unless it has fewer to give."""

Row = dict[str, str]


class Table(NamedTuple):
    """One table of a docstring."""

    columns: tuple[str, ...]
    rows: list[Row]


def tables(text):
    """Return the tables of a docstring, by the beginning of the paragraph before each."""
    found = {}
    paragraphs = [part.strip().splitlines() for part in re.split(r"\n\s*\n", text)]
    for before, lines in pairwise(paragraphs):
        if not all(line.strip().startswith("|") for line in lines):
            continue
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
        title = next(name for name in TABLES if before[0].startswith(name))
        assert title not in found, f"two tables after {title!r}"
        columns, rule, *rows = cells
        assert all(re.fullmatch(r":?-+:?", cell) for cell in rule)
        found[title] = Table(tuple(columns), [dict(zip(columns, row, strict=True)) for row in rows])
    return found


def agrees(written, value):
    """Return whether a number is what is written, in the digits that are written."""
    if not np.isfinite(float(written)):
        return float(written) == value
    digits = re.sub(r"e.*$", "", written.lower()).replace(".", "").strip("+-").lstrip("0")
    count = max(len(digits), FEWEST_DIGITS)
    return float(f"{value:.{count}g}") == float(written)


def numbers_of(scale):
    """Return the numbers of a scale, or the one that all are."""
    values = np.atleast_1d(np.asarray(scale, dtype=float)).ravel().tolist()
    return values[:1] if len(set(values)) == 1 else values


def assert_is(row, channel, scale):
    """Compare a row of a table with a channel; the scale is in the column of that name."""
    assert (row["name"], row["size"], row["unit"]) == (
        channel.name,
        str(channel.size),
        channel.unit,
    )
    written, real = row[scale].split(", "), numbers_of(channel.scale)
    assert len(written) == len(real), f"{channel.name}: {real}"
    for text, value in zip(written, real, strict=True):
        assert agrees(text, value), f"{channel.name}: {text} is written, {value!r} is right"


class Documented(NamedTuple):
    """An environment and what its docstring says."""

    name: str
    kind: type[PlatformEnv]
    tables: dict[str, Table]

    def make(self, **options):
        """Return the environment with its usual machine."""
        return self.kind(**options)


@pytest.fixture(scope="module", params=environment_ids())
def documented(request):
    """Every registered environment."""
    entry = gym.spec(request.param).entry_point
    assert isinstance(entry, str)
    module, _, name = entry.partition(":")
    kind = getattr(__import__(module, fromlist=[name]), name)
    return Documented(request.param, kind, tables(inspect.getdoc(kind) or ""))


def test_all_tables_are_there(documented):
    assert set(documented.tables) == set(TABLES)
    text = inspect.getdoc(documented.kind) or ""
    assert f"`{documented.make().task.default_machine}`" in text
    version = documented.name.rpartition("-")[2]
    assert re.search(rf"Versions: .*\b{version}\b", text)


def test_actions(documented):
    columns, rows = documented.tables["Actions"]
    choosing = re.fullmatch(r"option `(\w+)`", columns[0])
    if choosing is None:
        channels = documented.make().task.actions
        assert len(channels) == len(rows)
        for row, channel in zip(rows, channels, strict=True):
            assert_is(row, channel, "1 means")
        return
    option = choosing[1]
    usual = documented.kind.task_type.settings_type.model_fields[option]
    assert set(map(str, usual.annotation.__args__)) == {row[columns[0]] for row in rows}
    for row in rows:
        (channel,) = documented.make(**{option: row[columns[0]]}).task.actions
        assert_is(row, channel, "1 means")


def test_observations(documented):
    env = documented.make()
    rows = documented.tables["Observations"].rows
    assert [row["name"] for row in rows] == [channel.name for channel in env.task.observations]
    for row, channel in zip(rows, env.task.observations, strict=True):
        assert_is(row, channel, "scale")
    assert env.observation_space.shape == (sum(int(row["size"]) for row in rows),)


def test_reward_terms(documented):
    rows = documented.tables["Reward terms"].rows
    written = {row["name"]: row["weight"] for row in rows}
    real = documented.kind.task_type.terms
    assert list(written) == list(real)
    for name, weight in real.items():
        assert agrees(written[name], weight), name
    assert all(row["what"] for row in rows)


def test_reward_terms_stay_in_their_ranges(documented):
    env = documented.make()
    ranges = {
        row["name"]: tuple(map(float, row["range"].split(" to ")))
        for row in documented.tables["Reward terms"].rows
    }
    env.action_space.seed(1)
    env.reset(seed=1)
    seen = 0
    for _ in range(300):
        *_, ended, _, info = env.step(env.action_space.sample())
        for name, value in info["reward_terms"].items():
            low, high = ranges[name]
            assert low <= value <= high, name
        seen += 1
        if ended:
            env.reset()
    assert seen == 300


def test_ends(documented):
    rows = documented.tables["Ends"].rows
    reasons = documented.kind.task_type.termination_reasons
    assert reasons[:2] == ("", "engine")
    assert tuple(row["reason"] for row in rows) == reasons[1:]
    assert all(row["when"] for row in rows)
    steps = ENVIRONMENTS[documented.name].max_episode_steps
    assert gym.spec(documented.name).max_episode_steps == steps
    text = " ".join((inspect.getdoc(documented.kind) or "").split())
    assert f"Truncated after {steps} steps" in text


def test_info(documented):
    env = documented.make()
    _, began = env.reset(seed=1)
    *_, info = env.step(np.zeros(env.action_space.shape))
    rows = documented.tables["Info"].rows
    written = {row["name"]: int(row["size"]) for row in rows}
    others = {"reward_terms", "termination"}
    assert list(written) == list(env.task.signals)
    assert set(info) == set(written) | others
    assert set(began) == set(info) | {"randomised"}
    assert {name: np.size(info[name]) for name in written} == written
    assert all(row["unit"] and row["what"] for row in rows)


def test_options(documented):
    rows = documented.tables["Options"].rows
    fields = documented.kind.task_type.settings_type.model_fields
    assert {row["name"]: row["default"] for row in rows} == {
        name: str(field.get_default(call_default_factory=True)) for name, field in fields.items()
    }
    assert [row["name"] for row in rows] == list(fields)
    assert all(field.description for field in fields.values())


def test_something_is_documented():
    assert environment_ids()
    assert agrees("0.0508", 0.05083) and not agrees("0.0508", 0.0509)
    assert agrees("0.5", 0.5) and not agrees("0.5", 0.52)
    assert agrees("-inf", -np.inf) and agrees("0", 0.0) and not agrees("0", 0.1)
    assert tables("A\n\nEnds: x\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")["Ends"].rows == [
        {"a": "1", "b": "2"}
    ]
