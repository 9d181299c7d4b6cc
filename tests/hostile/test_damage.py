"""A few of the inputs of damaged files, of caches and of files that extend others."""

import pytest

from hostile import damage
from hostile.outcome import RESULT
from hostile.run import judged, table

pytestmark = pytest.mark.quick


@pytest.mark.seconds
def test_damaged_and_odd_files_end_in_no_fault(subtests):
    for kind in ["damage", "caches", "extensions"]:
        with subtests.test(f"{kind}"):
            found = [judged(kind, number, 2) for number in range(40)]
            assert not any(each.outcome.is_fault for each in found), table(found)
            assert any(each.outcome.kind == RESULT for each in found)


def test_good_files_are_read():
    for name in damage.good_files():
        read = damage.read_policy if name == "policy.npz" else damage.read_whole
        assert damage.expected(name, read)
