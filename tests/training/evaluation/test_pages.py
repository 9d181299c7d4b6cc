"""The tables of docs/benchmarks.md are those of the records that the policies are shipped with."""

import json
from pathlib import Path

import numpy as np
import pytest
from package_walk import ROOT

from twin.training import policies
from twin.training.evaluation import Evaluation, as_markdown

pytestmark = pytest.mark.quick


def test_the_page_has_the_tables_of_the_shipped_policies(subtests):
    for name in ["tracking", "isolation", "ball", "cueing"]:
        with subtests.test(f"{name}"):
            record = json.loads((Path(policies.__path__[0]) / f"stewart_{name}.json").read_text())
            results = {
                (row["policy"], row["engine"]): {
                    title: np.array(metric["episodes"], dtype=float)
                    for title, metric in row["metrics"].items()
                }
                for row in record["results"]
            }
            found = Evaluation(
                record["environment"],
                record["options"],
                tuple(record["seeds"]),
                tuple(record["policies"]),
                tuple(record["engines"]),
                results,
                record["changes"],
            )
            page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
            section = page.partition(f"<!-- {name}: begin, written by twin evaluate -->\n")[2]
            assert section.startswith(
                as_markdown(found, record["command"]) + f"<!-- {name}: end -->"
            )
