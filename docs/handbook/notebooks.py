"""Notebooks: a picture of each in their gallery."""

from __future__ import annotations

from pathlib import PurePosixPath

from docutils import nodes
from sphinx.application import Sphinx

GALLERY = "notebooks/index"


def add_pictures(app: Sphinx, page: nodes.document, name: str) -> None:
    """Put the first picture of each notebook into its card on the page of the gallery."""
    if name != GALLERY:
        return
    for card in list(page.findall(nodes.container)):
        if "card" in card["classes"]:
            link = next(card.findall(nodes.reference))
            notebook = PurePosixPath(GALLERY).with_name(PurePosixPath(link["refuri"]).stem)
            picture = next(app.env.get_doctree(str(notebook)).findall(nodes.image)).deepcopy()
            picture["alt"] = f"From the notebook {link.astext()}"
            card.insert(0, nodes.paragraph("", "", picture))
