"""Notebooks: a picture of each in their gallery, and the time that they take."""

from __future__ import annotations

from pathlib import PurePosixPath

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

GALLERY = "notebooks/index"

LONGEST = 180.0
"""[s] that a notebook may take."""


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


def durations(env: BuildEnvironment) -> dict[str, float]:
    """Return how long [s] each notebook took when it last ran, by page."""
    found = {}
    for name, data in getattr(env, "nb_metadata", {}).items():
        if run := data.get("exec_data"):
            found[name] = float(run["runtime"])
    return found


def check_durations(env: BuildEnvironment) -> None:
    """Check that no notebook takes too long.

    Raises:
        ExtensionError: one does.
    """
    slow = [f"{name}: {time:.0f} s" for name, time in durations(env).items() if time > LONGEST]
    if slow:
        raise ExtensionError(f"notebooks take more than {LONGEST:.0f} s: {', '.join(slow)}")
