"""One word for one thing: names, options and help texts use the words of docs/glossary.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import typer
from package_walk import MODULES, tree

from twin import cli

pytestmark = pytest.mark.quick

BATCHES = ("plant", "kernels", "simulation", "envs")
TASKS = ("envs", "kernels")
PLANT = ("plant", "kernels", "control", "simulation")
PAGE = ("page", "viewer")
DRIVES = ("motion", "envs", "validation", "sweep", "cli", "analysis", "training")
SYSTEMS = ("control", "analysis", "papers")


class Word(NamedTuple):
    """A word that is not used."""

    instead: str
    packages: tuple[str, ...] = ()
    """in which it has the sense that another word is for; all, if empty"""


WORDS = {
    "freedoms": Word("degrees of freedom, dof"),
    "preset": Word("configuration of a machine, fidelity of an engine"),
    "presets": Word("configurations of a machine, fidelities of an engine"),
    "demand": Word("reference, setpoint, command"),
    "demands": Word("references, setpoints, commands"),
    "demanded": Word("reference, setpoint, command"),
    "wanted": Word("reference, setpoint, command"),
    "asked": Word("reference, setpoint, command"),
    "told": Word("measured"),
    "tells": Word("reads"),
    "answer": Word("response, result"),
    "answers": Word("responses, results"),
    "internal": Word("deflection", ("machine", "kernels", "model", "engines", "simulation")),
    "conditions": Word("constraints"),
    "places": Word("indices", BATCHES),
    "row": Word("index, env_index", ("envs",)),
    "ride": Word("manoeuvre, course", DRIVES),
    "rides": Word("manoeuvres, courses", DRIVES),
    "settle": Word("project", ("engines", "model", "kernels")),
    "push": Word("disturbance wrench", ("plant", "kernels", "simulation", "envs")),
    "words": Word("motion specification", ("motion", "simulation", "sweep", "cli")),
    "facts": Word("summary"),
    "fleet": Word("batched plant, vector environment"),
    "bank": Word("batched plant, vector environment", BATCHES),
    "cargo": Word("ball"),
    "entering": Word("B, D, C of a StateSpace"),
    "pushed": Word("force_input", SYSTEMS),
    "loaded": Word("wrench_input", SYSTEMS),
    "shaken": Word("base_input", SYSTEMS),
    "quiet": Word("static deflection", ("control", "analysis", "model", "kernels")),
    "look": Word("observe, reward, terminate", TASKS),
    "late": Word("delay_steps", PLANT),
    "digits": Word("resolution", PLANT),
    "held": Word("torque or force after friction", PLANT),
    "contestant": Word("baseline"),
    "contestants": Word("baselines"),
    "orders": Word("requests", PAGE),
    "room": Word("backdrop", PAGE),
    "stage": Word("scene", PAGE),
}

TABLES = {"row"}
"""Words that help texts may use: a row of a table."""


def parts_of(name: str) -> list[str]:
    """Return the words of an identifier such as `some_name` or `SomeName`, in small letters."""
    return re.findall(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*", name.replace("_", " "))


def public_names(module: str) -> Iterator[str]:
    """Yield the last part of a module's name, and its public functions, classes, fields, constants.

    Parameters of public functions and methods are among them.
    """
    yield module.rpartition(".")[2]
    waiting: list[ast.AST] = [tree(module)]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
                yield child.name
                waiting.append(child)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if not child.name.startswith("_") or child.name == "__init__":
                    given = child.args
                    yield child.name
                    yield from (
                        each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)
                    )
            elif isinstance(child, ast.AnnAssign) and isinstance(node, ast.ClassDef):
                field = ast.unparse(child.target)
                if not field.startswith("_"):
                    yield field
            elif isinstance(child, ast.Assign) and isinstance(node, ast.Module):
                yield from filter(str.isupper, map(ast.unparse, child.targets))


def unwanted(words: list[str], package: str) -> set[str]:
    """Return those of some words that have another one in this package."""
    return {
        word
        for word in map(str.lower, words)
        if word in WORDS and (not WORDS[word].packages or package in WORDS[word].packages)
    }


def package_of(module: str) -> str:
    """Return the first name below `twin`."""
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("package", sorted(set(map(package_of, MODULES)) - {""}))
def test_public_names_use_the_words_of_the_glossary(package: str) -> None:
    for module in MODULES:
        if package_of(module) == package:
            for name in public_names(module):
                found = unwanted(parts_of(name), package)
                assert not found, f"{module}: {name}: {[WORDS[word].instead for word in found]}"


def command_texts() -> Iterator[tuple[str, str]]:
    """Yield commands, options and help texts with the place they are at."""
    group: Any = typer.main.get_command(cli.app)
    for name, command in group.commands.items():
        yield name, f"{name} {command.help}"
        for parameter in command.params:
            yield f"{name} {parameter.name}", " ".join([*parameter.opts, parameter.help or ""])


def test_commands_use_the_words_of_the_glossary() -> None:
    texts = list(command_texts())
    assert len(texts) > 100
    for place, text in texts:
        found = set(re.findall(r"[a-z]+", text.lower())) & set(WORDS) - TABLES
        assert not found, f"{place}: {[WORDS[word].instead for word in found]}"


def test_the_walk_sees_names() -> None:
    names = set(public_names("twin.analysis.platform"))
    assert {"platform", "Platform", "load", "simulate", "configuration", "timestep"} <= names
    assert "CARRIER_JOINTS" in set(public_names("twin.engines.urdf.robot"))
    assert parts_of("SomeName_of_URDFFile") == ["Some", "Name", "of", "URDF", "File"]
    assert unwanted(["Fleet", "plant"], "envs") == {"fleet"}
