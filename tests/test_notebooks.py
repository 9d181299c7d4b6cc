"""The gallery of notebooks: a card with a picture for each."""

import re
from types import SimpleNamespace

import pytest
from package_walk import ROOT

from handbook.notebooks import GALLERY, add_pictures

nodes = pytest.importorskip("docutils.nodes")
utils = pytest.importorskip("docutils.utils")

pytestmark = pytest.mark.quick


def test_every_notebook_has_a_card():
    gallery = (ROOT / "docs" / f"{GALLERY}.md").read_text()
    cards = re.findall(r"^\*\*\[[^\]]+\]\((\w+)\.md\)\.\*\* [^\n]{20}", gallery, re.M)
    notebooks = [file.stem for file in (ROOT / "docs" / "notebooks").glob("*.md")]
    assert sorted([*cards, "index"]) == sorted(notebooks)


def test_a_card_shows_the_first_picture_of_its_notebook():
    asked = []

    def doctree(name):
        asked.append(name)
        pictures = [nodes.image(uri=f"{name}_{k}.png") for k in range(2)]
        return nodes.container("", nodes.paragraph("", "words"), *pictures)

    page = utils.new_document("index")
    link = nodes.reference("", "Control", refuri="control.html")
    page += nodes.container("", nodes.paragraph("", "", link), classes=["card"])
    app = SimpleNamespace(env=SimpleNamespace(get_doctree=doctree))
    add_pictures(app, page, "index")
    assert not list(page.findall(nodes.image))
    add_pictures(app, page, GALLERY)
    (picture,) = page.findall(nodes.image)
    assert asked == ["notebooks/control"] and picture["uri"] == "notebooks/control_0.png"
    assert "Control" in picture["alt"] and page[0][0][0] is picture
