"""Identification from measured forces: alone, before predictions, and errors of their signal."""

import tomllib
import tracemalloc
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from console import console
from numpy.testing import assert_allclose
from recorded_motion import HIDDEN, TIMESTEP, nominal, part, recorded
from refusals import refused
from tolerance import assert_within

import twin
from twin.identification.prediction.optimise import solve
from twin.identification.result.identify import (
    AUXILIARY_SIGNALS,
    INPUT_SIGNALS,
    identified_toml,
    identify,
)
from twin.identification.result.predictions import mapping_lines
from twin.logs import Channel, Log, LogMapping, log_of, read_log, sha256_of, write_log

pytestmark = pytest.mark.quick

SIGNALS = (*INPUT_SIGNALS, *AUXILIARY_SIGNALS)

BODY = "platform.body.mass, platform.body.center_of_mass.0"
LATE, SCALE = 1.5e-3, 1.03
BIAS = np.array([3.0, -2.0, 0.0, 4.0, -5.0, 1.0])
EARLY = 0.5 * TIMESTEP
"""[s] by which simulated forces are early: they are those of the next step."""


def measured():
    """Return encoders and forces of the hidden machine; without its commands."""
    return part(log_of(recorded(duration=4.0)), "coordinates", "forces")


def read_late():
    """Return the same with errors of the forces."""
    forces = measured()["forces"]
    late = replace(forces.delayed(LATE), values=SCALE * forces.values + BIAS)
    return measured().with_channels(late)


def at(found, path):
    """Return the index of a parameter of the result."""
    return [parameter.path for parameter in found.parameters].index(path)


def assert_inside(found, path, truth, most):
    """Check that an interval holds the truth, and the size of the error."""
    k = at(found, path)
    error = abs(found.values[k] - truth)
    assert error < 1.5 * found.margins[k] * found.standard_errors[k], path
    assert error < most, path


@pytest.mark.slow
def test_forces_alone_show_the_payload():
    found = identify(nominal(), [measured(), measured()], "payload")
    assert_inside(found, "platform.body.mass", HIDDEN["platform.body.mass"], 0.05)
    center = "platform.body.center_of_mass.0"
    assert_inside(found, center, HIDDEN[center], 1e-4)
    assert found.platform.parameters.platform.body.mass == found.values[0]
    assert found.errors is None
    assert found.fits[-1].after < 0.02 * found.fits[-1].before
    assert "forces alone decide" in found.notes[0]


@pytest.mark.slow
def test_errors_of_the_forces_are_found_and_the_mapping_file_removes_them():
    platform = nominal()
    found = identify(platform, [read_late()], f"{BODY}, signal.forces.*")
    assert_inside(found, "signal.forces.scale", SCALE, 1e-3)
    assert_inside(found, "signal.forces.delay", LATE - EARLY, 2e-5)
    for leg, bias in enumerate(BIAS):
        assert_inside(found, f"signal.forces.bias.{leg}", bias, 0.5)
    content = tomllib.loads("\n".join(mapping_lines(platform, found.forces)))
    content["signals"]["forces"]["channels"] = ["forces"]
    corrected = LogMapping.of(content).apply(read_late(), platform)["forces"]
    assert_within(corrected.time, measured()["forces"].time + EARLY, 2e-5)
    assert_allclose(corrected.values, measured()["forces"].values, rtol=2e-3, atol=0.5)
    late = read_late()["forces"]
    amperes = Channel("currents", late.time, late.values / 20, "A")
    stage = found.forces._replace(signal="currents", force_per_current=20.0)
    lines = mapping_lines(platform, stage)
    content = tomllib.loads("\n".join(lines))
    content["signals"]["currents"]["channels"] = ["currents"]
    currents = LogMapping.of(content).apply(Log((amperes,)), platform)["currents"].values
    factor = float(lines[1].split()[-2])
    assert_allclose(factor * currents, measured()["forces"].values, rtol=2e-3, atol=0.5)
    record = tomllib.loads(identified_toml(found, "stewart", Path("mine.toml")))["identified"]
    assert record["signal.forces.scale"] == found.values[at(found, "signal.forces.scale")]


@pytest.mark.slow
def test_currents_show_friction_of_the_drives():
    """Of forces of motors that are commanded, late by delay and lag.

    The inertia of the motors, as known here, tells the scale of the forces.
    """
    log = log_of(recorded(duration=4.0))
    amperes = Channel(
        "currents", log["command_forces"].time, log["command_forces"].values / 20, "A"
    )
    given = Log((log["measured"], amperes))
    inertia = "leg.drive.armature_inertia"
    names = f"{BODY}, leg.drive.friction_torque, leg.drive.viscous_torque, signal.forces.scale"
    known, sure = f"{names}, {inertia}", {inertia: 1e-9}
    found = identify(
        nominal(), [given], known, spreads=sure, if_unobservable="prior", force_per_current=20.0
    )
    assert_inside(found, "leg.drive.friction_torque", HIDDEN["leg.drive.friction_torque"], 0.013)
    assert_inside(found, "platform.body.mass", HIDDEN["platform.body.mass"], 0.5)
    assert any("N/A" in line for line in mapping_lines(nominal(), found.forces))
    with refused("command_forces"):
        identify(nominal(), [given], names)
    unsure = identify(nominal(), [given], names, if_unobservable="prior", force_per_current=20.0)
    assert_inside(unsure, "platform.body.mass", HIDDEN["platform.body.mass"], 2.0)
    mass = at(unsure, "platform.body.mass")
    assert unsure.standard_errors[mass] > 2.0 * found.standard_errors[mass]


@pytest.mark.slow
def test_predictions_begin_with_what_forces_show(monkeypatch):
    """They keep it where they cannot show it themselves, and their own estimates where they can."""
    log = log_of(recorded())
    starts = []
    monkeypatch.setattr(
        "twin.identification.result.predictions.solve",
        lambda used, start, **options: starts.append(start) or solve(used, start, **options),
    )
    found = identify(nominal(), [log], [*HIDDEN, "signal.forces.scale"])
    assert_allclose(starts[0][:2], list(HIDDEN.values())[:2], rtol=0.02)
    assert_allclose(starts[0][2:], [each.nominal for each in found.parameters[2:4]])
    assert [parameter.path for parameter in found.parameters][4:] == ["signal.forces.scale"]
    assert_inside(found, "signal.forces.scale", 1.0, 5e-3)
    alone = found.forces.estimate
    assert found.standard_errors[0] < 0.5 * alone.standard_errors[0]
    monkeypatch.setattr(
        "twin.identification.result.predictions.first_jacobian", lambda problems: np.zeros((6, 2))
    )
    kept = identify(nominal(), [log], [*HIDDEN][:2])
    assert kept.errors is None
    assert_inside(kept, "platform.body.mass", HIDDEN["platform.body.mass"], 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("with_forces", [True, False])
def test_a_floor_out_of_level_is_found(with_forces):
    """Also without forces: predictions feel the tilt as well."""
    tilt = (4e-3, -7e-3)
    log = log_of(recorded(tilt=tilt))
    if not with_forces:
        log = part(log, *[name for name in log.names if name != "forces"])
    found = identify(nominal(), [log], [*HIDDEN, "gravity"])
    assert (found.forces is None) != with_forces
    for path, truth in {"tilt.x": tilt[0], "tilt.y": tilt[1], **HIDDEN}.items():
        assert_inside(found, path, truth, abs(0.01 * truth))
    assert found.fits[-1].after < 0.5e-6


@pytest.mark.seconds
def test_forces_of_another_sign_are_refused():
    forces = measured()["forces"]
    with refused("check sign"):
        identify(
            nominal(), [measured().with_channels(replace(forces, values=-forces.values))], "payload"
        )


@pytest.mark.parametrize(("spread", "mass", "most"), [("1 g", 97.0, 1.5), ("20 kg", 101.3, 0.1)])
def test_a_stated_spread_is_how_far_the_file_may_be_wrong(spread, mass, most):
    given = {"platform.body.mass": spread}
    found = identify(nominal(), [measured()], BODY, spreads=given, if_unobservable="prior")
    assert abs(found.values[0] - mass) < most


@pytest.mark.slow
def test_the_command_prints_both_stages(tmp_path):
    file = write_log(measured(), tmp_path / "run.csv")
    out, spread = tmp_path / "mine.toml", "platform.body.mass=5 kg"
    command = "identify stewart --configuration hardware --spread"
    parameters = f"{BODY}, gravity, signal.forces.scale"
    result = console(command, spread, file, "--out", out, "--parameters", parameters)
    assert "errors of the forces, rms" in result.output
    assert 'delay = "-0.0' in result.output
    assert_within(twin.load(out).parameters.platform.body.mass, 101.3, 0.5)
    wrong = console(command, "a=1", file, "--parameters", BODY, code=2)
    assert "a: stewart has no such number" in wrong.stderr


@pytest.mark.seconds
def test_what_forces_cannot_show_is_refused():
    with refused("command_forces"):
        identify(nominal(), [measured()], "payload, leg.drive.delay")
    held = identify(
        nominal(), [measured()], "payload, leg.drive.delay", if_unobservable="hold"
    ).fixed
    assert [parameter.path for parameter in held] == ["leg.drive.delay"]
    with refused("cannot be identified from these forces"):
        identify(nominal(), [measured()], "leg.rod.inertia.2.2")
    with refused("cannot be estimated"):
        log = log_of(recorded())
        identify(nominal(), [part(log, "measured", "command_forces")], "signal.forces.scale")


def test_a_folder_has_the_hash_of_its_files(tmp_path):
    """One after the other."""
    bag = tmp_path / "bag"
    (bag / "b").mkdir(parents=True)
    (bag / "b" / "1.db3").write_bytes(b"second")
    (bag / "a.yaml").write_bytes(b"first")
    assert sha256_of(bag) == sha256(b"firstsecond").hexdigest()


@pytest.mark.slow
def test_a_mapped_log_leaves_unused_channels_in_its_file(tmp_path, monkeypatch):
    """Memory holds the signals and a block of the file, not its other columns."""
    monkeypatch.setattr("twin.logs.files.table.BLOCK_ROWS", 500)
    time = np.arange(0.0, 30.0, 2e-3)
    legs = nominal().inverse_kinematics(nominal().home) + 1e-3 * np.sin(time)[:, None]
    wide = np.hstack([1e3 * legs, np.ones((len(time), 160))])
    names = [f"raw.{k} [mm]" for k in range(6)] + [f"raw.{k}" for k in range(6, 166)]
    file = tmp_path / "wide.csv"
    np.savetxt(
        file,
        np.column_stack([time, wide]),
        "%.6g",
        ",",
        header=",".join(["time [s]", *names]),
        comments="",
    )
    mapping = tmp_path / "mapping.toml"
    channels = ", ".join(f'"raw.{k}"' for k in range(6))
    mapping.write_text(f"[signals.coordinates]\nchannels = [{channels}]\n")
    tracemalloc.start()
    found = read_log(file, LogMapping.read(mapping), nominal(), signals=SIGNALS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.allclose(found["coordinates"].values, legs, atol=1e-5)
    assert peak < wide.nbytes
