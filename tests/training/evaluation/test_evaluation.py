"""Evaluation: the same episodes for all, scores that are what they say, tables and files."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from stand_in import EPISODE

import twin.envs  # noqa: F401 (registers the environments)
from twin.analysis.platform import load
from twin.machine.machine import parameters_path
from twin.training import Policy, evaluate, load_policy, train
from twin.training import environments as table
from twin.training.environments import (
    PARAMETERS_DIFFER,
    Accumulator,
    Metric,
    channels,
    check_fit,
    make_environments,
    option_differences,
    signal_values,
)
from twin.training.evaluation import (
    TRACKING_ENVIRONMENT,
    as_json,
    as_markdown,
    changes_from_training,
    count_parts,
    report_rows,
    roll_out,
    run_controller,
)
from twin.training.policy import PolicyNetwork, PolicyOrigin
from twin.training.settings import ENVIRONMENT_LAWS

POINTS = "stand_in:stand_in/Points-v0"
DISTANCE = Metric("distance", "mm", "distance", 1e3)
SHORT = {"machine": "stewart", "configuration": "hardware", "duration": 0.4}


def still_policy(environment, inputs, outputs, value=0.0):
    """Return a policy with one action for everything."""
    return Policy(
        (np.zeros((outputs, inputs)),),
        (np.full(outputs, value),),
        np.zeros(inputs),
        np.ones(inputs),
        PolicyNetwork(),
        PolicyOrigin(
            environment=environment, options=SHORT if environment == TRACKING_ENVIRONMENT else {}
        ),
    )


@pytest.mark.parametrize(
    ("kind", "formula"),
    [
        ("rms", lambda sizes: np.sqrt(np.mean(sizes**2, axis=0))),
        ("mean", lambda sizes: sizes.mean(axis=0)),
        ("largest", lambda sizes: sizes.max(axis=0)),
        ("last", lambda sizes: sizes[-1]),
    ],
)
def test_metrics_are_their_formulas(kind, formula):
    values = np.random.default_rng(0).normal(size=(30, 4, 3))
    sums = Accumulator((Metric("error", "mm", "error", 1e3, kind),), 4)
    for step in values:
        sums.add(signal_values(sums.metrics, {"error": step}))
    wanted = 1e3 * formula(np.linalg.norm(values, axis=2))
    assert_allclose(sums.results()[:, 0], wanted, rtol=1e-12)
    sums.clear(np.array([1]))
    assert sums.count.tolist() == [30, 0, 30, 30]
    assert sums.results()[1, 0] == 0.0


def test_first_episodes_are_scored_and_no_more():
    """Points that leave early begin again beside those that do not: what follows does not count."""
    wind = 1.5
    outcome = roll_out(POINTS, {"wind": wind}, None, [3, 4, 5, 6], (DISTANCE,))
    for row, seed in enumerate([3, 4, 5, 6]):
        at, path = np.random.default_rng(seed).uniform(-1.0, 1.0), []
        while len(path) < EPISODE and (not path or path[-1] <= 2.0):
            at += 0.1 * wind
            path.append(abs(at))
        assert outcome.length[row] == len(path)
        assert outcome.terminated[row] == (path[-1] > 2.0)
        assert_allclose(outcome.reward[row], -sum(path), rtol=1e-12)
        rms = 1e3 * np.sqrt(np.mean(np.square(path)))
        assert_allclose(outcome.metrics[row, 0], rms, rtol=1e-12)
    assert 0.0 < outcome.terminated.mean() < 1.0 or outcome.terminated.all()


def test_controllers_run_the_environments_motions():
    """The same machine and motion as in the environment, scored against the environment's own."""
    from twin.control import make_controller
    from twin.plant.plant import Plant
    from twin.simulation.simulate import simulate

    seeds, found = [21, 22], table.ENVIRONMENT_METRICS[TRACKING_ENVIRONMENT]
    outcome = run_controller("cascade", {**SHORT, "engine": "analytic"}, seeds, found)
    assert outcome.length.tolist() == [40, 40]
    env = make_environments(TRACKING_ENVIRONMENT, 2, {**SHORT, "engine": "analytic"}, "next_step")
    env.reset(seed=seeds)
    task = env.unwrapped.task
    platform, motion = task.batch.platforms[1], task.motions[1]
    law = make_controller("cascade", platform, motion)
    run = simulate(
        platform, 0.4, controller=law, plant=Plant(platform, seed=22), timestep=5e-4, every=20
    )
    errors = []
    for pose in run.pose[1:]:
        env.step(np.zeros((2, 6)))
        errors.append(np.linalg.norm(pose[:3] - task.signals["reference_pose"][1, :3]))
    rms = 1e3 * np.sqrt(np.mean(np.square(errors)))
    assert_allclose(outcome.metrics[1, 0], rms, rtol=1e-6)
    assert_allclose(outcome.metrics[1, 2], 1e3 * max(errors), rtol=1e-6)
    env.close()


def test_all_take_part_in_the_same_episodes(tmp_path):
    policy = still_policy(TRACKING_ENVIRONMENT, *widths()).save(tmp_path / "still.npz")
    told = []
    found = evaluate(
        TRACKING_ENVIRONMENT, ["zero", policy, "cascade"], episodes=3, seed=50, show=told.append
    )
    assert found.policies == ("zero", str(policy), "cascade")
    assert len(told) == count_parts(3, 1, 3)
    assert found.options == SHORT
    assert found.seeds == (50, 51, 52)
    zero, still, cascade = (found.results[name, "analytic"] for name in found.policies)
    for title, values in zero.items():
        assert_array_equal(values, still[title])
    title = found.titles[0]
    assert title == "position error [mm]"
    difference = found.difference(str(policy), "analytic", title)
    assert (difference.value, difference.half_width) == (0.0, 0.0)
    assert np.isfinite(cascade[title]).all()
    assert np.isnan(cascade["return"]).all()
    assert found.mean("cascade", "analytic", "return").episodes == 0


def widths():
    """Return how many numbers PoseTracking observes and takes."""
    env = make_environments(TRACKING_ENVIRONMENT, 1, SHORT)
    sizes = env.single_observation_space.shape[0], env.single_action_space.shape[0]
    env.close()
    return sizes


@pytest.mark.slow
def test_processes_give_the_same():
    pytest.importorskip("joblib")
    options = {"options": SHORT, "episodes": 9, "engines": ("analytic",)}
    alone = evaluate(TRACKING_ENVIRONMENT, ["zero"], **options)
    pool = evaluate(TRACKING_ENVIRONMENT, ["zero"], **options, jobs=2)
    for title, values in alone.results["zero", "analytic"].items():
        assert_array_equal(values, pool.results["zero", "analytic"][title])


def test_report_holds_the_means():
    found = evaluate(TRACKING_ENVIRONMENT, ["zero", "cascade"], options=SHORT, episodes=2)
    rows = report_rows(found)
    assert [row[:2] for row in rows] == [("analytic", "zero"), ("analytic", "cascade")]
    assert rows[0][2] == found.mean("zero", "analytic", "position error [mm]").text()
    assert rows[0][-1] == "-"
    text = as_markdown(found, "twin evaluate")
    assert text.startswith("`twin evaluate` gives:\n\n| engine |")
    # Without the column of terminated episodes: there are none.
    assert "No episode was terminated." in text and "terminated [%]" not in text
    found.results["zero", "analytic"]["terminated [%]"][0] = 100.0
    assert "terminated [%]" in as_markdown(found)
    content = json.loads(as_json(found, "twin evaluate"))
    assert content["seeds"] == list(found.seeds)
    cascade = content["results"][1]
    assert cascade["metrics"]["return"]["mean"] is None
    error = cascade["metrics"]["position error [mm]"]
    assert_allclose(error["mean"], np.mean(error["episodes"]), rtol=1e-12)


def test_bad_arguments_are_refused():
    given = {"environment": TRACKING_ENVIRONMENT, "policies": ["zero"], "episodes": 1}
    isolation = {"environment": "twin/VibrationIsolation-v0"}
    assert_all_refused(
        lambda changes: evaluate(**given | changes),
        [
            ({"policies": []}, "policies"),
            ({"policies": ["zero", "zero"]}, "policies"),
            ({"policies": ["nobody"]}, "computed_torque"),
            ({"engines": ["physx"]}, "engine"),
            ({"episodes": 0}, "episodes"),
            (isolation | {"policies": ["cascade"]}, "PoseTracking"),
            ({"policies": ["isolation_law"]}, "VibrationIsolation"),
            ({"environment": "twin/None-v0"}, "environment"),
        ],
    )


def test_policies_of_other_environments_are_refused(tmp_path):
    path = still_policy(POINTS, 2, 1).save(tmp_path / "points.npz")
    with refused("is for"):
        evaluate(TRACKING_ENVIRONMENT, [path], options=SHORT, episodes=1)
    path = still_policy(TRACKING_ENVIRONMENT, 5, 6).save(tmp_path / "narrow.npz")
    with refused("takes 5 observations"):
        evaluate(TRACKING_ENVIRONMENT, [path], options=SHORT, episodes=1)


def test_policies_with_other_scales_are_refused(tmp_path):
    """What 1 means must be what it meant in training."""
    env = make_environments(TRACKING_ENVIRONMENT, 1, SHORT)
    observations, actions = channels(env)
    env.close()
    plain = still_policy(TRACKING_ENVIRONMENT, *widths())
    origin = plain.origin.model_copy(update={"observations": observations, "actions": actions})
    path = replace(plain, origin=origin).save(tmp_path / "policy.npz")
    assert evaluate(TRACKING_ENVIRONMENT, [path], episodes=1).seeds
    with refused(r"action_scale: is 0\.1, but null in the training"):
        evaluate(TRACKING_ENVIRONMENT, [path], options={"action_scale": 0.1}, episodes=1)
    wide = make_environments(TRACKING_ENVIRONMENT, 1, {**SHORT, "action_scale": 0.1})
    with refused(r"another place or scale; .*action_scale 0.1 \(training"):
        check_fit(replace(plain, origin=origin), wide)
    wide.close()


def test_given_options_take_the_place_of_those_of_the_training(tmp_path):
    """What is not given stays as in the training, and what differs is told."""
    path = still_policy(TRACKING_ENVIRONMENT, *widths()).save(tmp_path / "still.npz")
    given = {"amplitude": 0.2, "duration": 0.4, "fidelity": None}
    found = evaluate(TRACKING_ENVIRONMENT, [path], options=given, episodes=1)
    assert found.options == {**SHORT, **given}
    assert found.changes == {str(path): {"amplitude": ("0.2", "0.4")}}
    (sentence,) = changes_from_training(found)
    assert "amplitude 0.2 (training: 0.4)" in sentence
    assert "`amplitude` `0.2` (training: `0.4`)" in as_markdown(found)
    plain = evaluate(TRACKING_ENVIRONMENT, [path], episodes=1)
    assert plain.options == SHORT and not changes_from_training(plain)
    ideal = evaluate(TRACKING_ENVIRONMENT, [path], options={"configuration": None}, episodes=1)
    assert ideal.changes[str(path)] == {"configuration": ("null", "hardware")}


def test_an_edited_machine_is_told(tmp_path):
    """The path of its file is the same; where another machine was asked for, that is enough."""
    file = tmp_path / "platform.toml"
    shutil.copy(parameters_path("stewart"), file)
    origin = PolicyOrigin(
        environment=TRACKING_ENVIRONMENT, options={"machine": str(file)}, parameters=load(file).hash
    )
    policy = replace(still_policy(TRACKING_ENVIRONMENT, 3, 2), origin=origin)
    assert option_differences(policy, {"machine": load(file)}).keys() == {"machine"}
    assert not option_differences(policy, origin.options)
    file.write_text(file.read_text().replace("mass = 97.0", "mass = 98.0", 1))
    assert option_differences(policy, origin.options) == {
        PARAMETERS_DIFFER: (load(file).hash, origin.parameters)
    }


def test_a_policy_sees_and_acts_in_the_scales_of_its_training():
    """A base that shakes less would change both, and what the same policy then does."""
    found = evaluate(
        load_policy("stewart_isolation").origin.environment,
        ["zero", "stewart_isolation"],
        options={"acceleration": 0.2, "max_episode_steps": 300},
        episodes=2,
    )
    passive, policies = (found.results[name, "analytic"] for name in found.policies)
    assert (policies["transmissibility"] < 0.3 * passive["transmissibility"]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "laws"),
    [
        ("twin/BallBalance-v0", ["balance_law"]),
        ("twin/MotionCueing-v0", ["classical", "adaptive", "tilt_law"]),
        ("twin/VibrationIsolation-v0", ["isolation_law"]),
    ],
)
def test_laws_beat_doing_nothing(environment, laws):
    """Each in rows of its own: together as alone."""
    assert laws == list(ENVIRONMENT_LAWS[environment])
    options = {"max_episode_steps": 300}
    found = evaluate(environment, ["zero", *laws], options=options, episodes=4)
    alone = evaluate(environment, laws, options=options, episodes=1, seed=found.seeds[2])
    for law in laws:
        for title in (found.titles[0], "return"):
            assert found.results[law, "analytic"][title][2] == alone.results[law, "analytic"][title]
        assert found.difference(law, "analytic", found.titles[0]).value < 0.0
        assert found.difference(law, "analytic", "return").value > 0.0


@pytest.mark.parametrize("machine", [None, "rss"])
def test_a_users_own_task_is_evaluated_after_its_training(machine, tmp_path):
    """The machine is the task's usual one where the training names none."""
    task = "own_task:own_task/Reach-v0"
    given = {} if machine is None else {"machine": machine}
    train(
        task,
        tmp_path / "run",
        steps=100,
        algorithm="ars",
        envs=12,
        options={**given, "engine": "analytic"},
        hyperparameters={"episode": 5},
        progress=False,
    )
    file = tmp_path / "run" / "policy.npz"
    found = evaluate(task, ["zero", file], episodes=2, options=given)
    assert found.titles == ("return", "terminated [%]")
    assert found.changes == {str(file): {}}
    learned = load_policy(file)
    assert option_differences(learned, {"machine": "stewart"}) == {
        "machine": ("stewart", machine or "srspm")
    }
