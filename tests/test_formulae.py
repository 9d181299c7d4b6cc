"""Formulae of docstrings as mathematics: every public one, and every letter of it."""

import ast
import re
import unicodedata
from collections import Counter
from xml.etree import ElementTree

from package_walk import MODULES, tree

from handbook import docstrings
from handbook.formulae import as_latex, formulae
from handbook.interface import INTERNAL
from handbook.mathematics import as_mathml

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def test_plain_notation_in_latex():
    for plain, latex in {
        "x_1'' / 3": r"\frac{x_{1}\prime \prime }{3}",
        "(a + b) / (2 c)": r"\frac{a + b}{2 c}",
        "(a / b)^2": r"\left(\frac{a}{b}\right)^{2}",
        "a / b c": r"\frac{a}{b} c",
        "Y / sum |X|": r"Y / \sum  |X|",
        "J'^-1 M^T": r"J\prime ^{-1} M^{\mathsf T}",
        "g_(w+k)'": r"g_{w+k}\prime ",
        "Kp int(e)": r"K_{p} \int e\,\mathrm{d}t",
        "f(x) / g": r"\frac{f(x)}{g}",
        "u . v.": r"u \cdot v.",
        "a x (b x r) + 2 x": r"a \times (b \times r) + 2 x",
        "x <= p1": r"x \le p_{1}",
        "c at rest - k": r"c\,\text{at}\ \text{rest} - k",
        "lean_rate b": r"\text{lean_rate}\,b",
        "exp(-i omega h)": r"\exp (-i \omega  h) ",
    }.items():
        assert as_latex(plain).replace("  ", " ") == latex.replace("  ", " "), plain


def test_code_tables_and_matrices_stay_as_they_are():
    for block in ("[ M  0 ] = [ 0 ]", "f('x') = \"y\"", "x += 1", "no relation", "f(x = 1"):
        assert formulae([f"    {block}"]) is None, block
    assert formulae(["  a = b", "      + c", "  d = e"]) == r"a &= b + c \\ d &= e"


def symbols(drawn):
    """Return the text of MathML, Greek letters by their names in docstrings."""
    text = "".join(ElementTree.fromstring(re.sub("&[A-Z][A-Za-z]+;", "", drawn)).itertext())
    found = []
    for letter in unicodedata.normalize("NFKC", text):
        name = unicodedata.name(letter, "").replace("LAMDA", "LAMBDA").split()
        if "GREEK" in name:
            (word,) = {*name} - {"GREEK", "SMALL", "CAPITAL", "LETTER"}
            found.append(word.title() if "CAPITAL" in name else word.lower())
        else:
            found.append(letter.replace("\N{PRIME}", "'"))
    return "".join(found)


def test_public_formulae_keep_every_symbol(monkeypatch):
    """Letters, figures, primes and signs of each block, counted before and after."""
    blocks = []

    def noted(lines):
        blocks.append("\n".join(lines))
        return formulae(lines)

    # Formulae are found on the way to pages, which show them no more.
    monkeypatch.setattr(docstrings, "formulae", noted)
    for module in MODULES:
        if module.partition(".")[2].partition(".")[0] not in INTERNAL:
            for node in ast.walk(tree(module)):
                if isinstance(node, DOCUMENTED):
                    docstrings.as_restructured((ast.get_docstring(node) or "").splitlines())
    assert len(blocks) > 30
    for block in blocks:
        latex = formulae(block.splitlines())
        assert latex is not None, f"{block}\nis no mathematics: a table or inline code says it"
        before = re.sub(r"\bint\(", "dt(", block.replace("sqrt(", "("))
        before = re.sub(r"\bsum(?=[ _])|<=|(?<=[\w)] )x (?=[\w(])", "", before)
        after = symbols(as_mathml(latex, as_block=True))
        for kind in (r"\w", "'", "=", r"\+"):
            wanted, found = (Counter(re.findall(kind, text)) for text in (before, after))
            wanted.pop("_", None), found.pop("_", None)
            assert wanted == found, (block, latex)
        assert before.count("/") == after.count("/") + latex.count(r"\frac")
