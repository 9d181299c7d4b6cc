"""The site's pages: all are reached, what is generated says what its source says."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import typer
from package_walk import MODULES, ROOT
from refusals import refused

import twin
from handbook.commands_page import commands_page
from handbook.dimensions import dimensions_figure
from handbook.environments_page import environments_page
from handbook.errata_page import errata_page
from handbook.errors_page import errors_page
from handbook.gallery import gallery
from handbook.generate import SINGLE
from handbook.interface import WITHOUT, pages, parts
from handbook.links import inside_the_site
from handbook.machine_page import machine_page, use
from handbook.machine_pictures import SKETCH, VIEWS
from handbook.markdown import plain
from handbook.mathematics import ACCENTS, TALL_ACCENTS, as_mathml
from handbook.parameters import configurations
from handbook.report import machine_report, read_report
from handbook.slim import slim
from twin.cli import app
from twin.envs import ENVIRONMENTS
from twin.errors import TwinError
from twin.machine.file.read import describe
from twin.validation.case import CaseResult, Measure, Quantity, Statement, Table
from twin.validation.published.printed import read_errata
from twin.validation.report.page import summary

DOCS = ROOT / "docs"
WRITTEN = (*DOCS.glob("*.md"), *DOCS.glob("notebooks/*.md"))
PAGES = sorted(page.relative_to(DOCS).with_suffix("").as_posix() for page in WRITTEN)
PICTURES = {view: Path(f"{view}.png") for view in (*VIEWS, SKETCH)}
assert PAGES


def toctrees(name):
    """Return the entries of all tables of contents of a page."""
    found = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / f"{name}.md").read_text(), re.S)
    lines = [line.strip() for block in found for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith(":")]


def reached():
    """Yield what the index leads to, through other pages too."""
    waiting = ["index"]
    while waiting:
        name = waiting.pop()
        yield name
        if (DOCS / f"{name}.md").is_file():
            waiting += toctrees(name)


def test_index_leads_to_every_page_once():
    found = list(reached())
    assert sorted(name for name in found if not name.startswith("_")) == PAGES


def test_index_leads_to_every_generated_page():
    found = set(reached())
    assert {name.removesuffix(".md") for name in SINGLE} <= {
        name.removeprefix("_generated/") for name in found
    }
    assert {"_generated/machines/*", "_generated/interface/*"} <= found


def test_links_of_pages_lead_to_pages_of_the_site(subtests):
    for name in PAGES:
        with subtests.test(f"{name}"):
            text = inside_the_site((DOCS / f"{name}.md").read_text())
            for link in re.findall(r"\]\(([^)#\s]+\.md)", text):
                folder, _, generated = link.partition("_generated/")
                if generated:
                    assert generated in SINGLE or "/machines/" in link, link
                    assert folder == "../" * name.count("/"), link
                else:
                    assert (DOCS / name).parent.joinpath(link).is_file(), link


@pytest.fixture(scope="module")
def report():
    """Return a report of one case that every machine has, made of numbers that can be found."""
    platforms = [twin.load(name) for name in twin.machine_names()]
    results = [
        CaseResult(
            platform.name,
            "made_up",
            "A case | made up",
            "What is compared.",
            (Measure("first", 1.25e-7, 1e-6, "because *so*", unit="m"),),
            (Quantity("second", 3.5),),
            statements=(Statement("(4.2)", "12.5 N", "12.75 N", "differs", "a known reason"),),
            tables=(Table("Beside", ("a", "b"), (("1", "2"),)),),
        )
        for platform in platforms
    ]
    from twin.validation.report.page import environment

    content = summary(results, platforms, environment("twin validate"), 1.0)
    return json.loads(json.dumps(content))


@pytest.mark.pages
@pytest.mark.parametrize("name", twin.machine_names())
def test_machine_pages_have_every_table_and_number(name, report):
    platform = twin.load(name)
    text = machine_page(platform, machine_report(report, name), PICTURES)
    known = configurations(platform)
    rows = describe(platform.parameters)
    rows += [
        row
        for configuration in known
        for row in describe(twin.load(name, configuration=configuration).parameters)
    ]
    rows = [row for row in rows if (row.table, row.name) != ("configuration", "applied")]
    assert len(rows) > 20
    for row in rows:
        assert not row.table or f"`[{row.table}]`" in text, row.table
        assert f"`{row.name}`" in text, row.name
        assert plain(row.source) in text, row.source
    assert "1.25e-07" in text and "≤ 1e-06" in text
    assert "12.75 N" in text and "**differs**: a known reason" in text
    assert all(f"../pictures/{file}" in text for file in PICTURES.values())
    derived = text.partition("## Derived quantities\n")[2].partition("##")[0].splitlines()[3:-1]
    assert not [line for line in derived if " " in line.split("|")[2].strip()]


@pytest.mark.pages
def test_every_row_of_a_page_has_as_many_cells_as_its_table(report):
    pages = [
        machine_page(twin.load(name), machine_report(report, name), PICTURES)
        for name in twin.machine_names()
    ]
    for text in [*pages, commands_page(), errors_page(), errata_page(), environments_page()]:
        blocks = re.findall(r"(?:^\|.*\n)+", text, re.M)
        assert blocks
        for block in blocks:
            counts = {len(re.findall(r"(?<!\\)\|", row)) for row in block.splitlines()}
            assert len(counts) == 1, block


@pytest.mark.pages
@pytest.mark.parametrize("name", twin.machine_names())
def test_code_of_machine_pages_runs(name):
    code = use(twin.load(name))
    assert f'twin.load("{name}")' in code
    exec(code, {})


@pytest.mark.pages
@pytest.mark.parametrize("name", twin.machine_names())
def test_sketches_show_every_leg_and_the_main_dimensions(name):
    platform = twin.load(name)
    figure = dimensions_figure(platform)
    plan, side = figure.axes
    numbers = [text.get_text() for text in plan.texts]
    assert numbers == [str(i + 1) for i in range(platform.n_actuators)]
    assert len(plan.lines) == len(side.lines) == platform.n_actuators
    width = 1e3 * np.ptp(platform.base_joints[:, 0])
    assert f"base {width:.4g} x" in figure.get_suptitle()


@pytest.mark.pages
def test_gallery_shows_every_machine(report):
    pictures = {name: Path(f"{name}.png") for name in twin.machine_names()}
    text = gallery(report["machines"], pictures)
    for name in twin.machine_names():
        assert f"_generated/pictures/{name}.png" in text
    assert text.count("1 of 1 judged measures pass") == len(pictures)


def test_missing_reports_and_machines_say_what_to_do(tmp_path, report):
    with refused("make report"):
        read_report(tmp_path / "report.json")
    with refused("make report"):
        machine_report(report, "no_such_machine")


def test_command_page_has_every_command_and_option():
    text = commands_page()
    commands = typer.main.get_command(app).commands
    assert {"simulate", "validate", "info"} <= set(commands)
    for name, command in commands.items():
        section = text.partition(f"## twin {name}\n")[2].partition("\n## ")[0]
        assert section and (command.params or name == "list"), name
        for parameter in command.params:
            assert parameter.help, f"{name} {parameter.name}: no help"
            written = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar
            assert f"`{written or parameter.name.upper()}" in section, f"{name} {parameter.name}"
    assert "Raises" not in text and "* `--help`" not in text


def test_environment_page_has_every_environment():
    text = environments_page()
    for name in ENVIRONMENTS:
        assert f"## {name}\n" in text
    assert "| coordinate error | 6 | m |" in text
    assert (
        "| goal | False | observations with a goal" in text and "| name | default |\n" not in text
    )


def test_errata_page_has_every_entry():
    entries = [entry for paper in read_errata() for entry in paper.entries]
    text = errata_page()
    assert f"{len(entries)} entries" in text
    for entry in entries:
        assert f"`{entry.test}`" in text


def test_errors_page_has_every_error():
    text = errors_page()
    waiting = [TwinError]
    while waiting:
        kind = waiting.pop()
        assert f"`{kind.__name__}`" in text
        waiting += kind.__subclasses__()


@pytest.mark.pages
def test_interface_has_every_public_package():
    names = {part.name for part in parts()}
    packages = {name for name in MODULES if name.count(".") == 1 and MODULES[name].stem != name}
    for name in packages:
        own = name.split(".")[1]
        if MODULES[name].name == "__init__.py" and own not in WITHOUT:
            assert name in names
    made = pages()
    assert "automodule:: twin.motion.profiles" in made["interface/twin.motion/profiles.md"]
    # What a package itself names comes before the rest of it.
    shown = made["interface/twin.motion.md"]
    assert shown.index("twin.motion/profiles") < shown.index("twin.motion/table")


def test_no_line_of_a_text_is_taken_for_a_comment(subtests):
    for name in PAGES:
        with subtests.test(f"{name}"):
            text = re.sub(r"^```.*?^```", "", (DOCS / f"{name}.md").read_text(), flags=re.M | re.S)
            assert not re.findall(r"^\s*(?:%|\+\+\+).*", text, re.M), (
                "such lines are left out of the site"
            )


@pytest.mark.pages
def test_formulae_are_drawn_as_they_are_written():
    found = []
    for name in PAGES:
        text = (DOCS / f"{name}.md").read_text()
        found += re.findall(r"^```math\n(.*?)^```", text, re.M | re.S)
        text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        assert "$$" not in text, "displayed formulae are blocks of math, which all readers know"
        found += re.findall(r"\$([^$\n]+)\$", text)
    assert len(found) > 100
    for formula in found:
        assert not re.search(r"\\t?frac[^{]", formula), f"{formula}: name both parts in braces"
        markup = re.sub(r"&(?!lt;|gt;|amp;)\w+;", "", as_mathml(formula, as_block=False))
        drawn = ElementTree.fromstring(markup)
        text = "".join(drawn.itertext())
        accents = sum(text.count(mark) for mark in (*ACCENTS.values(), *TALL_ACCENTS.values()))
        assert accents == len(re.findall(r"\\(?:d?dot|hat|bar)\b", formula)), formula
    assert 'class="accented">x\u0307<' in as_mathml(r"\dot x_1", as_block=True)
    assert "munderover" not in as_mathml(r"\bar e_w", as_block=True)
    tall = ElementTree.fromstring(as_mathml(r"\dot\theta_1", as_block=True))
    assert [part.tag.split("}")[1] for part in tall[0]] == ["mover", "mn"]
    assert as_mathml("|x|", as_block=False).count('lspace="0"') == 2
    primes = as_mathml(r"x_1'' + y'^2 + \text{drives' delay}", as_block=False)
    assert primes.count("\N{PRIME}") == 3 and primes.count("'") == 1
    for formula, spaces in ((r"\sin x", 1), (r"\sin(x)", 0), (r"(y) \sin x", 2), (r"x \sin(y)", 1)):
        assert as_mathml(formula, as_block=False).count("<mspace") == spaces


def test_pages_lose_what_nobody_sees_and_keep_what_they_say():
    other = (
        '<li class="toctree-l2 has-children"><a href="b.html">b</a><input/><label></label>'
        '<ul><li><a href="c.html">c</a></li></ul></li>'
    )
    text = '<p>-1.2e-12 m, <code><span class="pre">x</span></code> <b id="1e-3">y</b></p>'
    short = slim(text + other)
    assert "<span class=whole>-1.2e-12</span> m" in short and 'id="1e-3"' in short
    assert "<code>x</code>" in short and "b.html" in short and "c.html" not in short
    assert slim(short) == short
