"""The command `excite`: what it prints, and the file that `track` plays."""

from functools import partial

import pytest
from console import console

from twin.identification import excitation
from twin.motion import read_recording

pytestmark = pytest.mark.quick


@pytest.mark.slow
def test_it_prints_errors_and_writes_a_motion(stewart, tmp_path, monkeypatch):
    monkeypatch.setattr(excitation, "excite", partial(excitation.excite, rounds=1))
    file = tmp_path / "motion.csv"
    result = console(
        "excite stewart --configuration hardware --parameters platform.body.mass,friction "
        "--duration '3 s' --noise '20 N' --spread 'platform.body.mass=3 kg' --out",
        file,
    )
    [row] = [text for text in result.output.splitlines() if "mass of the platform body" in text]
    assert row.split()[-6:-4] == ["kg", "3"]
    assert "the same from a simulated run" in result.output
    [row] = [text for text in result.output.splitlines() if "breakaway" in text]
    assert 0.0 < float(row.split()[-3]) <= float(row.split()[-4]) == 0.15
    assert max(map(len, result.output.replace(str(file), "").splitlines())) <= 100
    motion = read_recording(file, stewart.home)
    assert motion.duration == 3.0
    assert stewart.within_limits(motion([0.0, 1.0, 1.7, 3.0]).pose).all()


def test_options_that_cannot_be_used_are_refused(subtests):
    for options, message in [
        ("--noise '2 N m'", "has a unit of N m, but a force of this machine is in N"),
        ("--out motion.npz", "must end in .csv"),
    ]:
        with subtests.test(options):
            assert message in console(f"excite stewart {options}", code=2).stderr
