"""The page of the shipped policies has the results of their records."""

import json

import pytest

from handbook.policies_page import POLICIES, RECORDS, policies_page
from twin.training import policy_names

pytestmark = pytest.mark.quick


def test_the_page_has_every_shipped_policy_with_its_baselines():
    text = policies_page()
    assert set(POLICIES.values()) == set(policy_names())
    for title, name in POLICIES.items():
        record = json.loads((RECORDS / f"{name}.json").read_text())
        section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
        assert section.count("\n| ") == 2 + len(record["results"]) > 8
        for row in record["results"]:
            assert f"| {row['engine']} | {row['policy']} |" in section


def test_the_page_has_every_condition():
    section = policies_page().partition("## Robustness\n")[2]
    shipped = json.loads((RECORDS / "robustness.json").read_text())
    assert shipped["note"] in section
    assert all(f"| {row['condition']} |" in section for row in shipped["rows"])
    heads = {(row["environment"], row["title"], row["policy name"]) for row in shipped["rows"]}
    assert section.count("\n| ") == 2 + len(heads) + len(shipped["rows"])
