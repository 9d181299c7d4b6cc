"""Options of environments for a policy: those of its training, given ones, their differences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from twin.analysis.platform import Platform, load
from twin.errors import InputError
from twin.training.policy import Policy

PASSED_OVER = ("engine", "info", "scales", "render_mode", "autoreset_mode")
"""Options that change nothing of the task, or that a policy brings along."""

MEANING = "action_scale"
"""Option that says what an action means; a policy cannot take another."""

UNKNOWN = "its default"

PARAMETERS = "parameters of the machine"
"""Name of a difference within the same machine and configuration: a file that has been edited."""


def merged_options(
    policy: Policy | None, given: Mapping[str, Any] | None, name: str = "the policy"
) -> dict[str, Any]:
    """Return the options of a policy's training with the given ones, which win.

    Args:
        policy: trained; None for a baseline, which has none.
        given: options; None for none.
        name: of the policy, for the message.

    Raises:
        InputError: another scale of actions than in the training.
    """
    if policy is None:
        return dict(given or {})
    merged = {**policy.options, **(given or {})}
    changed = option_differences(policy, merged)
    if MEANING in changed:
        here, there = changed[MEANING]
        raise InputError(
            MEANING,
            f"is {here}, but {there} in the training of {name}, whose actions it would change",
        )
    return merged


@contextmanager
def explained_differences(
    policy: Policy | None, options: Mapping[str, Any], name: str
) -> Iterator[None]:
    """Name the options that differ from a policy's training where its scales do not fit.

    Raises:
        InputError: the environment made inside does not take the scales of the training.
    """
    try:
        yield
    except InputError as error:
        if policy is None or error.field != "scales":
            raise
        changed = difference_text(option_differences(policy, options))
        raise InputError(
            "policy", f"{name} does not fit ({error.message}); not as in its training: {changed}"
        ) from None


def option_differences(policy: Policy, options: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return name -> (value here, value in the training) of the options that differ.

    The file of the machine may have changed since: then the digests of its parameters differ.
    """
    usual = _usual_options(policy.origin.environment)
    trained, found = policy.origin.options, {}
    for name in sorted(({*trained, *options}) - set(PASSED_OVER)):
        here, there = (_text({**usual, **each}.get(name, UNKNOWN)) for each in (options, trained))
        if here != there:
            found[name] = here, there
    there = policy.origin.parameters
    used = {**usual, **options}
    if there and "machine" in used and not {"machine", "configuration"} & {*found}:
        here = _parameters(used)
        if here != there:
            found[PARAMETERS] = here, there
    return found


def difference_text(differences: Mapping[str, tuple[str, str]], mark: str = "") -> str:
    """Return differences as a text: "acceleration 0.2 (training: null)".

    Args:
        differences: name -> (value here, value in the training).
        mark: around names and values, such as the backtick of Markdown.
    """
    return ", ".join(
        f"{mark}{name}{mark} {mark}{here}{mark} (training: {mark}{there}{mark})"
        for name, (here, there) in differences.items()
    )


def change_text(
    name: str, differences: Mapping[str, tuple[str, str]], use: str, mark: str = ""
) -> str:
    """Return "NAME is not USE as it was trained: ..."; empty without differences."""
    if not differences:
        return ""
    told = difference_text(differences, mark)
    return f"{mark}{name}{mark} is not {use} as it was trained: {told}."


def _parameters(options: Mapping[str, Any]) -> str:
    """Return the digest of the parameters of an environment's machine."""
    machine = options["machine"]
    if not isinstance(machine, Platform):
        machine = load(machine, options.get("configuration"))
    return machine.hash


def _usual_options(environment: str) -> dict[str, Any]:
    """Return the defaults of an environment: those of its task, and those it is registered with.

    They have no machine where the environment is not made of a `twin.envs.task.Task`.
    """
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    module, _, name = environment.rpartition(":")
    with suppress(ImportError):  # the evaluation reports a module that cannot be imported
        import_module(module or "twin.envs")
    spec = gymnasium.registry.get(name)
    if spec is None:
        return {}
    made = spec.entry_point or spec.vector_entry_point
    made = load_env_creator(made) if isinstance(made, str) else made
    task = getattr(made, "task_type", None)
    if task is None:
        return dict(spec.kwargs)
    fields = task.settings_type.model_fields.items()
    return {
        "machine": task.usual_machine,
        "configuration": None,
        "randomisation": None,
        "max_episode_steps": spec.max_episode_steps,
        **{field: about.get_default(call_default_factory=True) for field, about in fields},
        **spec.kwargs,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
