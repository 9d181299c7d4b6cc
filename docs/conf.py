"""Settings of Sphinx; `make docs` builds the site."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import twin  # noqa: E402
from handbook.drawn import mark_charts, use_drawn  # noqa: E402
from handbook.figures import wrong_figures  # noqa: E402
from handbook.generate import generate  # noqa: E402
from handbook.links import inside_the_site  # noqa: E402
from handbook.mathematics import add_renderer  # noqa: E402
from handbook.notebooks import add_pictures  # noqa: E402
from handbook.references import link_names, resolve_types  # noqa: E402
from handbook.rendering import restructure, short_contents  # noqa: E402
from handbook.report import read_report  # noqa: E402
from handbook.signatures import remove_long_values, signature_as_written  # noqa: E402
from handbook.slim import slim_pages  # noqa: E402

project = "platform twin"
version = release = twin.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["handbook", "_generated/machine_gallery.md", "_generated/convergence.md"]
language = "en"
# Quotes stay as they are typed: texts quote values of options. Two dashes begin an option.
smartquotes_action = "e"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]
html_math_renderer = "mathml"

# Notebooks run anew where they or their cache changed; a cell that fails ends the build.
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_merge_streams = True

autodoc_default_options = {"exclude-members": "model_config, model_post_init"}
autodoc_preserve_defaults = True
# Signatures have the types as the source writes them; docstrings name those of constants.
autodoc_typehints = "none"
autodoc_use_type_comments = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
# An annotation holds the short name of a class, which two classes may have.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = "platform twin"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_use_index = False
html_domain_indices = False
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False


def begin(_: Sphinx) -> None:
    """Write the generated pages; check what other pages print against the report."""
    root = HERE.parent
    generate(HERE / "_generated", root / "report.json")
    pages = [(root / page).read_text() for page in ("docs/engines.md", "README.md")]
    if wrong := wrong_figures(read_report(root / "report.json"), *pages):
        raise ExtensionError("other figures than the report's:\n" + "\n".join(wrong))


def finish(app: Sphinx, failed: Exception | None) -> None:
    """Use the pictures that `make docs` has drawn, mark charts, and make pages slim."""
    if failed is None and app.builder.format == "html":
        use_drawn(HERE.parent / "build" / "images", Path(app.outdir) / "_images")
        mark_charts(Path(app.outdir))
        slim_pages(Path(app.outdir))


def rewrite_links(_: Sphinx, name: str, text: list[str]) -> None:
    """Rewrite the links of a page, in place."""
    text[0] = inside_the_site(text[0], name)


def setup(app: Sphinx) -> None:
    """Register what writes pages, turns texts into what Sphinx reads, and checks the site."""
    add_renderer(app)
    app.connect("builder-inited", begin)
    app.connect("build-finished", finish)
    app.connect("doctree-resolved", add_pictures)
    app.connect("source-read", rewrite_links)
    app.connect("autodoc-process-docstring", restructure)
    app.connect("object-description-transform", short_contents)
    app.connect("doctree-read", resolve_types)
    app.connect("doctree-read", link_names)
    app.connect("doctree-resolved", remove_long_values)
    app.connect("autodoc-process-signature", signature_as_written)
