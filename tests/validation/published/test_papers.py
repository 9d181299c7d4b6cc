"""Sentences of the papers: each has its place and is compared in one place."""

from pathlib import Path
from typing import get_args

import twin.validation.cases
from twin.validation.case import Agreement
from twin.validation.published import printed as papers
from twin.validation.published.printed import Paper

NAMES = {name: value for name, value in vars(papers).items() if isinstance(value, Paper)}


def test_every_sentence_is_compared_by_one_case():
    folder = Path(twin.validation.cases.__path__[0])
    text = "".join(file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py")))
    assert len(NAMES) == 5
    for name, paper in NAMES.items():
        assert paper.sentences
        for key, sentence in paper.sentences.items():
            assert text.count(f'{name}["{key}"]') == 1, (name, key)
            assert sentence.source.startswith(f"{paper.title}, ")
            assert sentence.text
            assert sentence.recorded in get_args(Agreement)


def test_every_file_of_sentences_is_a_paper():
    files = {file.stem for file in Path(papers.__file__).parent.glob("*.toml")}
    assert {Paper(name).title for name in files} == {paper.title for paper in NAMES.values()}
