"""Templates load as they are, say what every field means, and never replace a file."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from closed_loops import run
from refusals import refused
from shipped import machine_of_kind
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.control.cascade import Cascade
from twin.machine.file.read import LEG_KINDS, describe, parameters_from, template, write_template
from twin.machine.quantity import merged
from twin.plant.plant import Plant


@pytest.mark.slow
def test_template_is_a_machine_that_runs(subtests, tmp_path):
    for legs in LEG_KINDS:
        with subtests.test(f"{legs}"):
            platform = twin.load(write_template(tmp_path / f"my_{legs}.toml", legs))
            assert platform.name == f"my_{legs}"
            rest = np.zeros(6)
            forces = platform.inverse_dynamics(platform.home, rest, rest)
            # Held at home, up to rounding of the forces.
            acceleration = platform.forward_dynamics(platform.home, rest, forces)
            assert_within(acceleration[:6], 0.0, 1e-11)
            held = platform.simulate(0.01, forces=forces)
            # Springs in the legs settle meanwhile.
            assert_within(held.pose[-1], platform.home, 1e-6)


def test_templates_are_machines_of_their_own(subtests):
    """Nobody should take the numbers of a shipped machine for a start."""
    for legs in LEG_KINDS:
        with subtests.test(f"{legs}"):
            made = parameters_from(tomllib.loads(template("mine", legs)), "mine.toml")
            assert made.leg.kind == legs
            assert not np.allclose(
                made.home_coordinates[:3], machine_of_kind(legs).home_coordinates[:3]
            )


COMMENTED = re.compile(r"^# (\[\[?[a-z_.]+\]\]?|[a-z_.]+ = .*)", re.MULTILINE)
"""Entries that a template shows without using them."""


def test_what_templates_only_show_loads_too(subtests):
    for legs in LEG_KINDS:
        with subtests.test(f"{legs}"):
            text, count = COMMENTED.subn(r"\1", template("mine", legs))
            assert count > 5
            made = parameters_from(tomllib.loads(text), "mine.toml")
            assert made.variant
            assert made.leg.appearance is not None


def test_pillars_show_a_configuration():
    text = COMMENTED.sub(r"\1", template("mine", "pillar"))
    made = parameters_from(tomllib.loads(text), "mine.toml", "frictionless")
    assert made.leg.model_dump()["friction"]["viscous"] == 0.0


@pytest.mark.slow
def test_templates_show_drives_that_run(subtests):
    for legs in LEG_KINDS:
        with subtests.test(f"{legs}"):
            text = COMMENTED.sub(r"\1", template("mine", legs))
            made = Platform(parameters_from(tomllib.loads(text), "mine.toml", "hardware"))
            assert not Plant(made).ideal
            held = run(made, Cascade(made), 0.02)
            assert held.stopped == ""


def test_template_names_every_field(subtests, tmp_path):
    for legs in LEG_KINDS:
        with subtests.test(f"{legs}"):
            text = template("my_platform", legs)
            platform = twin.load(write_template(tmp_path / "my_platform.toml", legs, replace=True))
            names = {row.name for row in describe(platform.parameters)}
            assert names
            missing = {name for name in names if name not in text}
            assert not missing


GUIDE = Path(twin.__file__).parent.parent / "docs" / "your_platform.md"

SHOWN = re.findall(r"^```toml\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
"""Parts of a platform.toml in the guide."""

LAYOUTS = [block for block in SHOWN if "[[variant]]" not in block and "configuration" not in block]
"""Those that replace tables of a template."""


def test_what_the_guide_adds_fits_the_template():
    blocks = [block for block in SHOWN if block not in LAYOUTS and "extends" not in block]
    assert len(blocks) == 2
    content = tomllib.loads("\n".join([template("mine"), *blocks]))
    made = parameters_from(content, "mine.toml", "loaded")
    assert made.platform.body.mass == 104.0
    assert [leg.actuator.maximum for leg in made.legs[:2]] == pytest.approx([1.0944, 1.15])
    assert made.legs[1].actuator.minimum == made.legs[0].actuator.minimum


def test_what_the_guide_replaces_fits_the_template(subtests):
    for block in LAYOUTS:
        with subtests.test(f"{block}"):
            change = tomllib.loads(block)
            content = tomllib.loads(template("mine", "rss" if "leg" in change else "ups"))
            for side in ("base", "platform"):
                content[side] |= change.get(side, {})
            content["home"] = change.get("home", "mid_stroke")
            made = parameters_from(
                merged(content, {"leg": change.get("leg", {})}, None), "mine.toml"
            )
            middles = [(leg.actuator.minimum + leg.actuator.maximum) / 2 for leg in made.legs]
            assert_within(made.home_coordinates, middles, 1e-9)


def test_existing_files_stay(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("precious")
    with refused("exists"):
        write_template(path)
    assert path.read_text() == "precious"


def test_names_are_plain(subtests, tmp_path):
    for name in ["My Platform.toml", "1st.toml", "ä.toml", ".toml"]:
        with subtests.test(f"{name}"):
            with refused("name"):
                write_template(tmp_path / name)
            assert not list(tmp_path.iterdir())


def test_unknown_legs(tmp_path):
    with refused("ups, strut, rss, viscoelastic, pillar"):
        write_template(tmp_path / "mine.toml", "wheels")
