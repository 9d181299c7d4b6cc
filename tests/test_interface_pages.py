"""Docstrings and signatures on the pages of the interface: rewritten, shortened and linked."""

import ast

import pytest
from package_walk import MODULES, tree

from handbook.docstrings import CODE, as_restructured
from handbook.links import inside_the_site
from handbook.references import link_names, meaning, resolve_types
from handbook.rendering import restructure, short_contents
from handbook.signatures import signature_as_written
from twin.basics.arrays import as_floats
from twin.control.controller import Reference
from twin.machine.legs.upu import Screw
from twin.model.machine_model import MachineModel

pytestmark = pytest.mark.quick


def test_docstrings_become_what_sphinx_reads():
    lines = ["Force of `a|b`, x' and y_ * 2.", "", "| a | b |", "| --- | --- |", "| 1 | `c` |"]
    assert as_restructured(lines) == [
        r"Force of ``a|b``, x' and y\_ \* 2.",
        "",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
        "   * - a",
        "     - b",
        "   * - 1",
        "     - ``c``",
        "",
    ]
    for block in ("    x = |y|", "    f('x')"):
        assert as_restructured(["As", "", block, "", "it is."])[2:5] == ["::", "", block]
    assert as_restructured(["Alias for field number 2"]) == []


def test_signatures_have_types_as_the_source_writes_them():
    def written(kind, value):
        return signature_as_written(None, kind, "", value, None, None, None)

    assert written("function", as_floats) == (
        "(value: Any, field: str, last: int | None = None)",
        "FloatArray",
    )
    arguments, result = written("class", Screw)
    assert "lead: Length" in arguments and "Annotated" not in arguments and result == ""
    assert "self" not in written("method", MachineModel.forward_kinematics)[0]
    assert written("attribute", 3) is None


def test_docstrings_of_properties_have_sections():
    for kind in ("property", "method"):
        lines = ["Pose: of the ball.", "", "Raises:", "    InputError: there is none."]
        restructure(None, kind, "x", None, None, lines)
        assert lines[0] == "Pose: of the ball.", kind
        assert ":raises InputError: there is none." in lines, kind


def test_pages_of_the_handbook_become_links():
    assert as_restructured(["See docs/ball.md, `docs/x.md`."]) == [
        "See :doc:`/ball`, ``docs/x.md``."
    ]
    text = "see docs/ball.md and [it](../docs/ball.md), `docs/ball.md`"
    assert inside_the_site(text, "_generated/errata") == text.replace("docs", "[](/", 1).replace(
        "[](//ball.md", "[](/ball.md)", 1
    )
    assert inside_the_site(text, "ball") == text


def test_names_mean_what_they_mean_in_their_module(subtests):
    for module, name, whole in [
        ("twin.datasets.record", "Path", "pathlib.Path"),
        ("twin.analysis.frequency.response", "Path", "twin.analysis.frequency.response.Path"),
        ("twin.control.controller", "twin.motion", "twin.motion"),
        ("twin.control.controller", "Reference.at", None),
        ("twin.control.controller", "Nothing", None),
        ("twin.errors", "InputError", "twin.errors.InputError"),
    ]:
        with subtests.test(f"{module}"):
            found = meaning(module, name)
            assert (found or "").replace("._local", "") == (whole or "")


def test_types_and_names_lead_to_their_own_class():
    from docutils import nodes
    from docutils.utils import new_document
    from sphinx import addnodes

    page = new_document("page")
    module = "twin.control.controller"
    keys = {"refdomain": "py", "refspecific": False, "py:module": module}
    for kind, target in (("class", "Reference"), ("exc", "TwinError"), ("class", "Unknown")):
        page += addnodes.pending_xref("", reftype=kind, reftarget=target, **keys)
    resolve_types(None, page)
    types = list(page.findall(addnodes.pending_xref))
    assert [each["reftarget"] for each in types] == [
        f"{Reference.__module__}.Reference",
        "twin.errors.TwinError",
        f"{module}.Unknown",
    ]
    assert not any(each.hasattr("refspecific") for each in types)

    page = new_document("page")
    shown = addnodes.desc_signature("", "", addnodes.desc_name("", "sample"), module=module)
    codes = [nodes.literal("", text) for text in ("Reference", "sample", "x + 1", "twin.motion")]
    page += addnodes.desc("", shown, addnodes.desc_content("", nodes.paragraph("", "", *codes)))
    page += nodes.paragraph("", "", nodes.literal("", "Reference"))
    link_names(None, page)
    links = [each["reftarget"] for each in page.findall(addnodes.pending_xref)]
    assert links == [f"{Reference.__module__}.Reference", "twin.motion"]
    short_contents(None, "py", "attribute", page[0][1])
    assert shown["_toc_name"] == ""


def test_code_in_docstrings_ends_on_its_line():
    """Over two lines it would not be code; a table's rows and blocks of code are no sentences."""
    checked = 0
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for name in MODULES:
        for node in ast.walk(tree(name)):
            for line in ((isinstance(node, kinds) and ast.get_docstring(node)) or "").splitlines():
                checked += 1
                assert "`" not in CODE.sub("", line), f"{name}: {line}"
    assert checked > 1000
