"""The written pages: links lead somewhere, and what they name exists."""

import importlib
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from package_walk import MODULES, ROOT

import twin
from twin.cli import app
from twin.control import make_controller
from twin.engines import engine_names
from twin.model.engine import FIDELITIES

PAGES = {
    str(page.relative_to(ROOT)): page
    for page in [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "notebooks").glob("*.md")),
        *sorted((ROOT / "assets").glob("*/README.md")),
        *sorted((ROOT / "validation").glob("*.md")),
        ROOT / "examples" / "README.md",
    ]
}
assert {"docs/theory.md", "docs/decisions.md", "validation/errata.md"} <= set(PAGES)

PAGES_WITH_CODE = [
    name for name, page in PAGES.items() if "docs" in name and "```python" in page.read_text()
]
assert "docs/engines.md" in PAGES_WITH_CODE

OWN_CLIENT = "docs/export.md"
"""Its program takes PyBullet's first client, which in this process is another test's."""

CODE = re.compile(r"`([^`\n]+)`")
FOLDERS = ("assets", "benchmarks", "docs", "envs", "examples", "tests", "twin", "validation")


def words(page):
    """Return what a page writes as code inside its text."""
    text = re.sub(r"^```.*?^```", "", PAGES[page].read_text(), flags=re.MULTILINE | re.DOTALL)
    return CODE.findall(text)


def test_links_lead_somewhere(subtests):
    for page in PAGES:
        with subtests.test(f"{page}"):
            links = re.findall(r'(?:\]\(|src=")([^)#\s"]+)', PAGES[page].read_text())
            local = [link for link in links if "://" not in link]
            assert not [link for link in local if not (PAGES[page].parent / link).exists()]


def test_named_files_exist(subtests):
    for page in PAGES:
        with subtests.test(f"{page}"):
            for word in words(page):
                if re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w./]+", word):
                    assert (ROOT / word).exists(), word


def test_named_parts_of_the_package_exist(subtests):
    for page in PAGES:
        with subtests.test(f"{page}"):
            for word in words(page):
                match = re.match(r"twin((?:\.\w+)+)(?=\(|$)", word)
                if not match:
                    continue
                value = twin
                path = "twin"
                for name in match[1].strip(".").split("."):
                    path = f"{path}.{name}"
                    if path in MODULES:
                        value = importlib.import_module(path)
                    else:
                        assert hasattr(value, name), word
                        value = getattr(value, name)


def shell_commands(text):
    """Yield the arguments of every `twin` command in the console blocks of a page."""
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if kind in ("python", "text"):
            continue
        lines = iter(block.replace("\\\n", " ").splitlines())
        for line in lines:
            command = re.match(r"(?:\$ )?(?:\S*/)?twin (.*)", line.strip())
            if command is None:
                continue
            written = command[1]
            while written.count("'") % 2:
                written += "\n" + next(lines)
            words = shlex.split(written, comments=True)
            ends = [words.index(mark) for mark in ("|", "&", "&&", ";", ">") if mark in words]
            yield words[: min(ends, default=len(words))]


def parse(words):
    """Parse the arguments of the console command, without running it."""
    group = typer.main.get_command(app)
    context = group.context_class(group, info_name="twin")
    name, command, rest = group.resolve_command(context, words)
    command.make_context(name, rest, parent=context)


@pytest.mark.pages
def test_commands_have_the_options_that_pages_give_them(subtests):
    count = 0
    for page in PAGES.keys() - {"CHANGELOG.md"}:
        for command in shell_commands(PAGES[page].read_text()):
            count += 1
            with subtests.test(f"{page}: twin {shlex.join(command)}"):
                parse(command)
    assert count > 80


@pytest.mark.pages
def test_commands_inside_a_text_name_known_options(subtests):
    """They leave out arguments, and some a value."""
    for page in PAGES.keys() - {"CHANGELOG.md"}:
        for code in words(page):
            if not re.match(r"twin [a-z]", code):
                continue
            with subtests.test(f"{page}: {code}"):
                try:
                    parse(shlex.split(code)[1:])
                except Exception as fault:
                    assert type(fault).__name__ in ("MissingParameter", "BadOptionUsage"), fault


def test_a_script_draws_every_picture_of_the_guides():
    folder = ROOT / "docs" / "images"
    drawn = {f"{name}_mujoco" for name in twin.machine_names()}
    for file in folder.glob("*.py"):
        named = re.findall(r'"(\w+)(?:\.(?:png|gif))?"', file.read_text(encoding="utf-8"))
        drawn |= {f"viewer_{name}" for name in named} if file.stem == "viewer" else set(named)
    drawn |= set(re.findall(r'"(\w+)\.png"', (ROOT / "examples/convergence.py").read_text()))
    pictures = {file.stem for file in folder.iterdir() if file.suffix in (".png", ".gif")}
    assert len(pictures) > 10
    assert pictures <= drawn
    run = (folder / "__main__.py").read_text(encoding="utf-8")
    scripts = {file.name for file in folder.glob("*.py")} - {"__main__.py", "folder.py"}
    assert not [name for name in scripts if f'"{name}"' not in run], "make docs draws all of them"


def test_readme_is_read_in_five_minutes():
    text = PAGES["README.md"].read_text()
    assert len(text.split()) <= 700


def test_errata_name_their_tests():
    rows = re.findall(r"\| `([^`]+)` \|$", PAGES["validation/errata.md"].read_text(), re.M)
    assert len(rows) > 20, "errata are missing"
    for row in rows:
        file, _, name = row.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(), row


def test_changelog_names_what_users_meet():
    from twin.cli import app

    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert len(commands) > 3
    changes = PAGES["CHANGELOG.md"].read_text()
    for name in (*twin.machine_names(), *engine_names(), *FIDELITIES, *commands):
        assert re.search(rf"\b{name}\b", changes), name


def test_engines_page_names_every_option():
    text = PAGES["docs/engines.md"].read_text()
    for name in engine_names():
        module, engine = importlib.import_module("twin.engines").ENGINES[name]
        constructor = getattr(importlib.import_module(module), engine).__init__
        for option in constructor.__kwdefaults__:
            assert f"`{option}`" in text, f"{name}: {option}"


@pytest.mark.pages
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_WITH_CODE)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    """In this process, where it can be: a new one for each page imports all libraries again."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGES[page].read_text(), re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = tmp_path / f"{Path(page).stem}.py"
    script.write_text("\n".join(blocks))
    if page == OWN_CLIENT:
        subprocess.run([sys.executable, script], check=True)
    else:
        runpy.run_path(str(script), run_name="__main__")


@pytest.mark.pages
@pytest.mark.slow
def test_controllers_fit_the_machines_that_the_page_and_the_readme_say(subtests):
    lines = PAGES["docs/control.md"].read_text().partition("| machine | `cascade` |")[2].split("\n")
    columns = [["cascade"], *(CODE.findall(cell) for cell in lines[0].split("|")[:-1])]
    fits = 0
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        machines, *verdicts = line.strip("|").split("|")
        for machine in CODE.findall(machines):
            platform = twin.load(machine)
            for names, verdict in zip(columns, verdicts, strict=True):
                for name in names:
                    with subtests.test(f"{machine}: {name}"):
                        try:
                            make_controller(name, platform)
                        except twin.TwinError:
                            assert verdict.strip() == "no"
                        else:
                            fits += 1
                            assert verdict.strip() == "yes"
    pairs = len(twin.machine_names()) * sum(map(len, columns))
    assert f"{fits} of {pairs} pairs" in " ".join(PAGES["README.md"].read_text().split())


def sources():
    """Return the text files that reach a user."""
    code = [*MODULES.values(), *(ROOT / "validation").glob("*.html"), ROOT / "Makefile"]
    return [*code, *PAGES.values(), *(ROOT / "assets").glob("*/*.toml")]


def test_no_place_on_one_computer_is_written_down():
    private = re.compile(r"(?<![\w.])/(home|root|tmp|usr|opt|mnt|Users)/\w")
    for file in sources():
        assert not private.search(file.read_text()), file
