"""Docstrings and signatures on the pages of the interface: rewritten, shortened and linked."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from package_walk import MODULES, tree

from handbook.docstrings import CODE, as_restructured
from handbook.links import inside_the_site
from handbook.references import link_names, meaning, resolve_types
from handbook.rendering import dash_fields, restructure, share_docstrings, short_contents
from handbook.signatures import name_aliases, plain_signature, short, shorten_values, without_checks
from twin.control.controller import Reference
from twin.envs.pose_tracking.environment import PoseTrackingEnv
from twin.link.emulated import BaseFault
from twin.link.transport.source import Source
from twin.machine.body import RigidBody

pytestmark = pytest.mark.quick


def test_docstrings_become_what_sphinx_reads() -> None:
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
    assert as_restructured(["As", "", "    x = |y|", "", "it is."])[2:5] == [
        ".. math::",
        "",
        "   x = |y|",
    ]
    assert as_restructured(["As", "", "    f('x')", "", "it is."])[2:4] == ["::", ""]
    assert as_restructured(["Alias for field number 2"]) == []


def test_signatures_leave_out_checks_of_types() -> None:
    checked = "~typing.Annotated[{}, Check(a=[1], b={{'unit': 'kg m2'}}), Other()]"
    inner = checked.format("float")
    text = f"(rows: tuple[{inner}, {checked.format(f'dict[str, {inner}]')}] | None, n: int = 3)"
    assert without_checks(text) == "(rows: tuple[float, dict[str, float]] | None, n: int = 3)"
    assert without_checks("(x: list[int])") == "(x: list[int])"
    other = "(x: ~types.Annotated[int | None, Check(pattern='[a'), Tag(a tag)] = None)"
    assert without_checks(other) == "(x: int | None = None)"


def test_signatures_leave_out_long_defaults_and_what_is_no_code() -> None:
    text = (
        "(n: int, a: X = <factory>, f=<function E.<lambda>>, s: str = 'a, (b', *, g=np.float64(3.0)"
    )
    long = f"{text}, **x: Y = Y({'1, ' * 30}))"
    made, result = plain_signature(f"{long}", None)
    assert made == "(n: int, a: X = ..., f=..., s: str = 'a, (b', *, g=3.0, **x: Y = ...)"
    assert result is None
    assert plain_signature("()", "int") == ("()", "int") and plain_signature("", "")[0] is None


def test_aliases_of_types_have_their_names_inside_other_types() -> None:
    from sphinx.util.inspect import TypeAliasForwardRef
    from sphinx.util.typing import stringify_annotation

    name_aliases()
    alias = TypeAliasForwardRef("FloatArray")
    assert stringify_annotation(tuple[alias, alias]) == "tuple[FloatArray, FloatArray]"
    assert stringify_annotation(alias | None) == "FloatArray | None"


def described(name: str, value: str, meaning: str) -> Any:
    """Return what Sphinx makes of a constant."""
    from docutils import nodes
    from sphinx import addnodes

    shown = addnodes.desc_annotation("", "", nodes.Text(" = "), nodes.Text(value))
    signature = addnodes.desc_signature("", "", addnodes.desc_name("", name), shown)
    content = addnodes.desc_content("", nodes.paragraph("", meaning))
    return addnodes.desc("", signature, content, objtype="data")


def test_constants_have_short_values_and_share_docstrings() -> None:
    from docutils.utils import new_document
    from sphinx import addnodes

    page = new_document("page")
    for made in (("A", "1", "Two."), ("B", "9" * 101, "Two."), ("C", "2", "One."), ("D", "3", "")):
        page += addnodes.index(entries=[])
        page += described(*made)
    page += described("E", "4", "alias of Annotated[int, Check()]")
    shorten_values(None, page, "page")
    share_docstrings(None, page, "page")
    texts = [[part.astext() for part in node] for node in page.findall(addnodes.desc)]
    assert texts == [["A = 1", "B = ...", "Two."], ["C = 2", "One."], ["D = 3", ""], ["E = 4", ""]]


def test_docstrings_of_properties_have_sections() -> None:
    for kind in ("property", "method"):
        lines = ["Pose: of the ball.", "", "Raises:", "    InputError: there is none."]
        restructure(None, kind, "x", None, None, lines)
        assert lines[0] == "Pose: of the ball.", kind
        assert ":raises InputError: there is none." in lines, kind


def test_meanings_of_parameters_follow_a_dash() -> None:
    from docutils import nodes
    from docutils.utils import new_document

    page, name = new_document("page"), nodes.strong("", "x")
    page += nodes.paragraph("", "", name, nodes.Text(" -- "), nodes.Text("with --plan"))
    dash_fields(None, page, "page")
    assert page.astext() == "x \u2013 with --plan"


def test_fields_of_validated_classes_have_their_meanings_and_units() -> None:
    lines = ["A fault."]
    restructure(None, "class", "BaseFault", BaseFault, None, lines)
    assert ":param begin: Time at which it begins [s]" in lines
    lines = ["Whether."]
    restructure(None, "method", "active", BaseFault.active, None, lines)
    assert not any(":param" in line for line in lines)


def test_arrays_have_their_names_and_protocols_no_arguments() -> None:
    array = "~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.{}]]"
    given = f"(x: list[{array.format('float64')}], y: {array.format('uint8')})"
    assert without_checks(given) == "(x: list[FloatArray], y: NDArray[uint8])"
    assert plain_signature(None, "class", "Source", Source, None, "(*args)", None) == ("", None)


def test_classes_that_pass_arguments_on_show_those_of_their_base() -> None:
    event = (None, "class", "PoseTrackingEnv", PoseTrackingEnv, None)
    arguments, _ = plain_signature(*event, "(*arguments: Any, **options: Any)", None)
    assert (arguments or "").startswith("(machine: str | ~twin.analysis.platform.Platform = ''")


def test_values_are_written_as_a_reader_would() -> None:
    values = {
        "array([[ 0., -1.],\n       [ 1.5,  0. ]])": "[[ 0.0, -1.0], [ 1.5, 0.0]]",
        "array([], dtype=float64)": "[]",
        "500000000.0": "5e8",
        "(60000.0, 0.3333333333333333)": "(60000.0, 0.333333)",
        "<mjtDisableBit.X: 32768>": "...",
        "a.b.Law | c.State": "Law | State",
        "'a.B', 1": "'a.B', 1",
    }
    assert {value: short(value, 60) for value in values} == values


def test_validated_classes_show_all_their_fields() -> None:
    arguments, _ = plain_signature(None, "class", "RigidBody", RigidBody, None, "(**data)", None)
    assert all(f"{name}: " in (arguments or "") for name in RigidBody.model_fields)
    assert "Annotated" not in (arguments or "")


def test_pages_of_the_handbook_become_links() -> None:
    assert as_restructured(["See docs/ball.md, `docs/x.md`."]) == [
        "See :doc:`/ball`, ``docs/x.md``."
    ]
    text = "see docs/ball.md and [it](../docs/ball.md), `docs/ball.md`"
    assert inside_the_site(text, "_generated/errata") == text.replace("docs", "[](/", 1).replace(
        "[](//ball.md", "[](/ball.md)", 1
    )
    assert inside_the_site(text, "ball") == text


def test_names_mean_what_they_mean_in_their_module(subtests: pytest.Subtests) -> None:
    for module, name, whole in [
        ("twin.datasets.episode", "Path", "pathlib.Path"),
        ("twin.analysis.frequency.estimate", "Path", "twin.analysis.frequency.estimate.Path"),
        ("twin.control.controller", "twin.motion", "twin.motion"),
        ("twin.control.controller", "Reference.at", None),
        ("twin.control.controller", "Nothing", None),
        ("twin.errors", "InputError", "twin.errors.InputError"),
    ]:
        with subtests.test(f"{module}"):
            found = meaning(module, name)
            assert (found or "").replace("._local", "") == (whole or "")


def test_types_and_names_lead_to_their_own_class() -> None:
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


def test_constants_show_names_in_their_order() -> None:
    from docutils.utils import new_document

    page = new_document("page")
    page += described("CONTROLLERS", "...", "Names.")
    page[0][0]["module"], page[0][0]["fullname"] = "twin.control", "CONTROLLERS"
    shorten_values(None, page, "page")
    text = page[0][0].astext()
    assert text.index("'cascade': ...") < text.index("'observer': ...") < text.index("'lqr': ...")


def test_code_in_docstrings_ends_on_its_line() -> None:
    """Over two lines it would not be code; a table's rows and blocks of code are no sentences."""
    checked = 0
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for name in MODULES:
        for node in ast.walk(tree(name)):
            for line in ((isinstance(node, kinds) and ast.get_docstring(node)) or "").splitlines():
                checked += 1
                assert "`" not in CODE.sub("", line), f"{name}: {line}"
    assert checked > 1000
