"""The machine that does what a specification demands and needs the least of something.

The search is SciPy's differential evolution over compiled batches of candidates. It sees massless
cranks and legs at a number of poses; the machine that it finds is built, and judged again with all
its masses at other poses by the functions behind `twin feasible`. Where the legs' masses break a
limit, the search is repeated with that limit tightened.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from twin.analysis.feasibility.collisions import closest_legs
from twin.analysis.feasibility.course import leg_points
from twin.analysis.feasibility.feasibility import rest_feasibility
from twin.analysis.feasibility.joint_angles import directions
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.platform import Platform
from twin.analysis.stiffness import EquilibriumError, compliance_matrix, natural_modes
from twin.basics.arrays import BoolArray, FloatArray, one_of, whole_number
from twin.design.candidates import Candidates, candidates, free_bounds, has_layouts
from twin.design.demands import Assessment, Demand, assess, judge
from twin.design.specification import (
    SEARCHED_STEPS,
    Objective,
    Specification,
    actuator_units,
    angle_bounds,
)
from twin.errors import (
    ImpossibleDesignError,
    InputError,
    ParameterError,
    SingularPoseError,
    UnreachablePoseError,
)
from twin.kernels.design import (
    BASE_ANGLE,
    CLEARANCE,
    CONDITION,
    FORCE,
    FREQUENCY,
    LONGEST,
    NEED_COUNT,
    PLATFORM_ANGLE,
    SHORTEST,
    SPEED,
    STIFFNESS,
)
from twin.kernels.legs.interface import BASE_JOINT, PLATFORM_JOINT
from twin.machine.file.data_sheet.estimates import SHEET_SOURCE
from twin.machine.file.data_sheet.legs import leg_texts
from twin.machine.file.data_sheet.sheet import DataSheet
from twin.machine.file.data_sheet.text import sheet_text
from twin.machine.file.read import parameters_from

POPULATION = 12
"""Candidates of a generation, per free number."""

GENERATIONS = 300

CONVERGED = 1e-5
"""Spread of a population, relative to its mean, at which a search ends."""

SEARCH_SLACK = 1e-3
"""Part of each limit that a search leaves free, for the rounding of the numbers that it finds."""

CHECKED_STEPS = 40
"""Steps of each range at which the machine is judged at the end."""

SEARCH_STEPS = (0, 0, 6, 12)
"""Steps of each range in one search after another, while the machine that is found misses a limit
with its masses or between the poses of the search."""

NEGLIGIBLE_EXCESS = 1e-6
"""Excess over a limit that is rounding error."""

ATTEMPTS = 4
"""Most searches with different random numbers."""

AGREEMENT = 2e-3
"""Relative difference below which two searches have found the same best value."""

SIMPLEX_PER_GENERATION = 6
"""Evaluations of the simplex after a search, per generation of it."""

TIGHT_SHARE = 0.8
"""Part of a limit that is used, above which the limit may be in the way."""

SIGNIFICANT_DIGITS = 6
"""Of the free numbers of a machine that is built."""

SENSITIVITY_STEP = 0.01
"""Change of a free number, in parts of it, for the sensitivity of a demand."""

DESIGN_SOURCE = "Design"

FORCE_RESERVE = 1.1
"""Force and speed in the file over what is needed, where the specification has no limit."""


@dataclass(frozen=True)
class Design:
    """A machine that meets a specification, as it was judged at the end.

    Attributes:
        specification: what was demanded.
        values: free number -> value [m, rad].
        machine: the machine, without its payload.
        text: its platform.toml.
        demands: name -> demand with its numbers for this machine, the tightest first.
        figures: objective, or speed of the actuators -> value in SI units.
        sensitivity: demand -> free number -> change of the demand's share in percent for a number
            that is one percent larger.
        actuator: name of the actuator from the catalogue; empty without one.
        evaluations: candidates that the search has judged.
    """

    specification: Specification
    values: dict[str, float]
    machine: Platform
    text: str
    demands: dict[str, Demand]
    figures: dict[str, float]
    sensitivity: dict[str, dict[str, float]]
    actuator: str
    evaluations: int

    @property
    def margins(self) -> dict[str, float]:
        """Demand -> fraction of its limit that is left."""
        return {name: 1.0 - one.share for name, one in self.demands.items()}

    @property
    def at_bounds(self) -> list[str]:
        """Names of the free numbers within a hundredth of a bound that no limit of a demand is."""
        bounds, limits = free_bounds(self.specification), self.specification.limits
        names = []
        for (name, value), (low, high) in zip(self.values.items(), bounds, strict=True):
            is_limited = (
                limits.footprint if name.endswith("radius") else name == "height" and limits.height
            )
            nearest = value - low if is_limited else min(value - low, high - value)
            if nearest < 0.01 * (high - low):
                names.append(name)
        return names

    def to_toml(self) -> str:
        """Return the text of the machine's platform.toml."""
        return self.text


@dataclass
class Search:
    """A search for the best candidate.

    Attributes:
        specification: the demands.
        scale: demand -> factor of its share.
        bounds_on: objective -> largest allowed value.
        steps: of each range at which candidates are judged; 0: the fewest.
        generations: most generations.
        evaluations: candidates judged so far.
    """

    specification: Specification
    scale: Mapping[str, float] = field(default_factory=dict)
    bounds_on: Mapping[str, float] = field(default_factory=dict)
    steps: int = 0
    generations: int = GENERATIONS
    evaluations: int = 0

    def __post_init__(self) -> None:
        self.tasks = self.specification.tasks(self.steps)

    def run(self, objective: Objective, seed: int = 0) -> tuple[FloatArray, Assessment]:
        """Return the free numbers `(d,)` of the best candidate, and its assessment.

        Different random numbers may end in different valleys: the search is repeated until two
        agree on the best value.
        """
        # Rounded numbers may use a little of the slack.
        cost = self.cost_of(objective, slack=0.0)
        best, least = np.empty(0), np.inf
        for attempt in range(ATTEMPTS):
            values = self._refined(objective, self._evolved(objective, seed + attempt))
            value = float(cost(values[None])[0])
            agreed = abs(value - least) <= AGREEMENT * abs(value)
            if value < least:
                best, least = values, value
            if agreed and value < _scale_of(objective, self.specification):
                break
        return best, assess(self.specification, best[None], self.tasks, self.scale)

    def is_possible(self, objective: Objective, seed: int) -> bool:
        """Return whether a search finds a candidate that meets all demands; it ends there."""
        values = self._evolved(objective, seed, any_will_do=True)
        cost = self.cost_of(objective)(values[None])
        return bool(cost[0] < _scale_of(objective, self.specification))

    def _evolved(self, objective: Objective, seed: int, any_will_do: bool = False) -> FloatArray:
        """Return the free numbers that differential evolution finds.

        Args:
            objective: that is minimised.
            seed: of the random numbers.
            any_will_do: whether it ends at the first candidate that meets all demands.
        """
        from scipy import optimize

        cost, missed = self.cost_of(objective), _scale_of(objective, self.specification)

        def stop(intermediate_result: Any) -> None:
            if any_will_do and intermediate_result.fun < missed:
                raise StopIteration

        found = optimize.differential_evolution(
            lambda columns: cost(columns.T),
            self.bounds,
            popsize=POPULATION,
            maxiter=self.generations,
            tol=CONVERGED,
            atol=0.0,
            seed=seed % 2**32,
            polish=False,
            init="sobol",
            updating="deferred",
            vectorized=True,
            integrality=self.are_whole,
            callback=stop,
        )
        return np.asarray(found.x)

    def _refined(self, objective: Objective, values: FloatArray) -> FloatArray:
        """Return the free numbers that a simplex finds from others, rounded."""
        from scipy import optimize

        cost = self.cost_of(objective)
        refined = optimize.minimize(
            lambda one: float(cost(one[None])[0]),
            values,
            method="Nelder-Mead",
            bounds=self.bounds,
            options={
                "maxfev": SIMPLEX_PER_GENERATION * self.generations,
                "fatol": 1e-9,
                "xatol": 1e-9,
            },
        )
        # A simplex returns its best point, which may be the first one.
        values = np.where(self.are_whole, refined.x.round(), refined.x)
        return np.array([float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in values])

    @property
    def are_whole(self) -> BoolArray:
        """Whether each free number is a whole number `(d,)`."""
        return np.arange(len(self.bounds)) >= len(self.specification.free_numbers)

    @property
    def bounds(self) -> FloatArray:
        """Bounds of the free numbers `(d, 2)`; those of the layout of cranks come last."""
        bounds = free_bounds(self.specification)
        return np.vstack([bounds, [[0.0, 1.0]]]) if has_layouts(self.specification) else bounds

    def cost_of(
        self, objective: Objective, slack: float = SEARCH_SLACK
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the function to be minimised: the objective, or more where a demand is missed.

        `slack` is the part of each limit that is left free.
        """

        def cost(values: FloatArray) -> FloatArray:
            self.evaluations += len(values)
            assessment = assess(self.specification, values, self.tasks, self.scale)
            excess = assessment.excess(slack)
            for name, bound in self.bounds_on.items():
                excess += np.maximum(assessment.figures[name] / bound - 1.0, 0.0)
            goal = assessment.figures[objective]
            # Both methods only compare; the root keeps a small excess from counting as converged.
            missed = _scale_of(objective, self.specification) * (1.0 + excess**0.25)
            result: FloatArray = np.where(excess > 0.0, missed, np.minimum(goal, missed))
            return result

        return cost


def _scale_of(objective: Objective, specification: Specification) -> float:
    """Return a value that every sensible machine is far below, for the penalty."""
    if objective == "force":
        payload = specification.payload
        return 1e6 * (1.0 + (payload.mass if payload else 0.0))
    if objective == "price":
        return 1.0 + max(one.price for one in specification.actuators)
    return 1e6


def design(
    specification: Specification,
    *,
    seed: int = 0,
    generations: int = GENERATIONS,
    progress: Callable[[str], None] | None = None,
) -> Design:
    """Return the machine that meets a specification and needs the least of its objective.

    Args:
        specification: the demands.
        seed: of the search, from 0; the same seed gives the same machine.
        generations: most generations of a search.
        progress: called with what is done next.

    Raises:
        ImpossibleDesignError: no machine was found that meets all demands; it names those that are
            missed, and those without which one exists.
    """
    whole_number(seed, "seed", 0)
    whole_number(generations, "generations", 1)
    return _designed(specification, {}, seed, generations, progress or (lambda _: None))


def front(
    specification: Specification,
    other: Objective,
    *,
    points: int = 5,
    seed: int = 0,
    generations: int = GENERATIONS,
    progress: Callable[[str], None] | None = None,
) -> list[Design]:
    """Return machines between the best in the specification's objective and in another one.

    Each needs the least of the first objective of all that stay below a bound of the other.

    Args:
        specification: the demands and the first objective.
        other: second objective.
        points: number of machines.
        seed: of the search.
        generations: most generations of a search.
        progress: called with what is done next.

    Raises:
        InputError: an unknown objective, or the same one.
        ImpossibleDesignError: no machine meets all demands.
    """
    one_of(other, "other", get_args(Objective))
    if other == specification.minimise:
        raise InputError("other", "must be another objective than that of the specification")
    if other == "price" and not specification.actuators:
        raise InputError("other", "a price needs a catalogue of actuators")
    whole_number(points, "points", 2)
    say = progress or (lambda _: None)
    first = _designed(specification, {}, seed, generations, say)
    last_specification = specification.model_copy(update={"minimise": other})
    last = _designed(last_specification, {}, seed, generations, say)
    bounds = np.geomspace(first.figures[other], last.figures[other], points)[1:-1]
    between = []
    for bound in bounds:
        try:
            between.append(_designed(specification, {other: float(bound)}, seed, generations, say))
        except ImpossibleDesignError:
            continue
    return undominated([first, *between, last], specification.minimise, other)


def undominated(machines: list[Design], first: str, other: str) -> list[Design]:
    """Return the machines of which no other needs less of both, by what they need of the first."""
    result: list[Design] = []
    for machine in sorted(machines, key=lambda one: (one.figures[first], one.figures[other])):
        if not result or machine.figures[other] < result[-1].figures[other]:
            result.append(machine)
    return result


def _designed(
    specification: Specification,
    bounds_on: Mapping[str, float],
    seed: int,
    generations: int,
    say: Callable[[str], None],
) -> Design:
    """Return the best machine whose other objectives stay below bounds."""
    scale: dict[str, float] = {}
    evaluations, missed = 0, tuple[str, ...]()
    for steps in SEARCH_STEPS:
        say(f"search for the least {specification.minimise}")
        search = Search(specification, scale, bounds_on, steps, generations)
        values, seen = search.run(specification.minimise, seed)
        evaluations += search.evaluations
        if seen.excess()[0] > NEGLIGIBLE_EXCESS:
            raise _impossible(search, seen, seed, say)
        say("judge the machine that was found")
        try:
            text, machine, judged = _built(specification, values, seen)
        except (UnreachablePoseError, SingularPoseError, EquilibriumError):
            missed = ("reach",)
            continue
        found = _result(specification, values, machine, text, judged, evaluations)
        missed = tuple(name for name, left in found.margins.items() if left < -NEGLIGIBLE_EXCESS)
        if not missed:
            return found
        for name in judged.demands.keys() & {*missed}:
            share = float(seen.demands[name].share[0]) / scale.get(name, 1.0)
            scale[name] = (1.0 + SEARCH_SLACK) * float(judged.demands[name].share[0]) / share
    raise ImpossibleDesignError(
        f"the machine that was found misses {_list(list(missed))} at poses between those of the "
        "search, or once its legs have masses; loosen one of these",
        {"missed": missed, "in_the_way": missed},
    )


def _built(
    specification: Specification, values: FloatArray, seen: Assessment
) -> tuple[str, Platform, Assessment]:
    """Return text and machine of a candidate, and the demands on it with all its masses."""
    text = _text(specification, values, seen, with_limits=False)
    machine = _load(text)
    needs = _needs(specification, machine)
    judged = judge(specification, candidates(specification, values[None]), needs)
    text = _text(specification, values, judged, with_limits=True)
    return text, _load(text), judged


def _load(text: str) -> Platform:
    return Platform(parameters_from(tomllib.loads(text), "design"))


def _text(
    specification: Specification,
    values: FloatArray,
    judged: Assessment,
    *,
    with_limits: bool,
) -> str:
    """Return the platform.toml of a candidate, with the limits of its actuators if wanted.

    Raises:
        InputError: no machine has these numbers.
    """
    numbers = dict(zip(specification.free_numbers, values, strict=False))
    units, cranks = actuator_units(specification.legs), specification.legs == "rss"
    wanted = candidates(specification, values[None])
    low, high = judged.ranges[0]
    sizes: dict[str, float | None] = {"stroke": high - low}
    if specification.actuators and with_limits:
        actuator = specification.actuators[int(judged.actuators[0])]
        sizes = {"stroke": actuator.stroke, "force": actuator.force, "speed": actuator.speed}
        low = min(max(actuator.retracted, high - actuator.stroke), low)
    elif with_limits:
        for name in ("force", "speed"):
            limit = getattr(specification.limits, name)
            need = judged.figures[name][0]
            if limit or need:
                sizes[name] = limit or float(f"{FORCE_RESERVE * need:.2g}")
    entries = {name: f"{value:.9g} {units[name]}" for name, value in sizes.items() if value}
    if specification.symmetry:
        # Of the sheet's own joints only the plate's size is kept.
        radius = np.linalg.norm(
            wanted.rows[0, :, PLATFORM_JOINT : PLATFORM_JOINT + 2], axis=1
        ).max()
        numbers = dict.fromkeys(("base_radius", "platform_radius"), radius)
        numbers |= dict.fromkeys(("base_spacing", "platform_spacing"), 0.1)
    for name, value in numbers.items():
        entries[name] = f"{np.degrees(value):.9g} deg" if angle_bounds(name) else f"{value:.9g} m"
    if not cranks:
        entries["shortest"] = f"{low:.9g} m"
    sheet = DataSheet(legs=specification.legs, title=specification.title, **entries)
    sheet.check()
    for legs in leg_texts(sheet):
        text = sheet_text(specification.name, sheet, legs)
        if specification.symmetry:
            text = _with_joints(text, wanted)
        try:
            machine = _load(text)
        except ParameterError:
            continue
        if abs(machine.home[2] - wanted.height[0]) > 1e-6 * wanted.height[0]:
            continue
        rows = machine.constants.legs.rows
        columns = (
            slice(BASE_JOINT, BASE_JOINT + 6) if not cranks else slice(0, wanted.rows.shape[2] - 2)
        )
        size = 1e-6 * np.abs(rows[:, columns]).max()
        if np.allclose(rows[:, columns], wanted.rows[0][:, columns], rtol=0.0, atol=size):
            return _signed(text)
    raise InputError("design", "no machine file holds the numbers that were found")


def _with_joints(text: str, machine: Candidates) -> str:
    """Return the text of a data sheet with the joints and home of a machine by coordinates."""
    for side, column in (("base", BASE_JOINT), ("platform", PLATFORM_JOINT)):
        rows = machine.rows[0, :, column : column + 3]
        lines = "".join(f"    [{x:.9g}, {y:.9g}, {z:.9g}],\n" for x, y, z in rows)
        table = f'[{side}.joints]\nsource = "{SHEET_SOURCE}"\ncoordinates = [\n{lines}]\n\n'
        text = re.sub(rf"\[{side}\.joints\].*?\n\n", table, text, flags=re.DOTALL)
    home = f'[home]\nsource = "{SHEET_SOURCE}"\nposition = [0.0, 0.0, {machine.height[0]:.9g}]\n\n'
    return re.sub(r"\[home\].*?\n\n", home, text, flags=re.DOTALL)


def _signed(text: str) -> str:
    """Return the text of a data sheet as that of a design."""
    text = text.replace(f'"{SHEET_SOURCE}', f'"{DESIGN_SOURCE}')
    written = "# Written by `twin new` from the numbers of a data sheet."
    return text.replace(written, "# Written by `twin design`.").lstrip()


def _needs(specification: Specification, machine: Platform) -> FloatArray:
    """Return what a machine with its payload needs `(1, NEED_COUNT)`, at other poses."""
    tasks, home = specification.tasks(CHECKED_STEPS), machine.home
    poses = tasks.offsets + np.array([*home[:3], *np.zeros(4)])
    loaded = loaded_machine(specification, machine)
    needs = np.zeros((1, NEED_COUNT))
    coordinates = loaded.inverse_kinematics(poses)
    needs[0, SHORTEST], needs[0, LONGEST] = coordinates.min(), coordinates.max()
    forces = loaded.inverse_dynamics(poses, tasks.twists, tasks.accelerations)
    needs[0, FORCE] = np.abs(forces).max()
    rates = np.einsum("kij,kj->ki", loaded.jacobian(poses), tasks.twists)
    needs[0, SPEED] = np.abs(rates).max()
    needs[0, CONDITION] = np.max(loaded.condition_number(poses))
    needs[0, CLEARANCE] = closest_legs(loaded, poses)[0]
    stiffness = specification.actuator_stiffness
    if stiffness:
        compliance = compliance_matrix(loaded, poses, stiffness=stiffness)[:, :3, :3]
        needs[0, STIFFNESS] = 1.0 / (stiffness * np.linalg.norm(compliance, 2, axis=(1, 2)).max())
        slowest = natural_modes(loaded, poses, stiffness=stiffness).frequencies.min()
        needs[0, FREQUENCY] = (2.0 * np.pi * slowest) ** 2 / stiffness
    at_home = directions(loaded, leg_points(loaded, loaded.home[None]))
    along = directions(loaded, leg_points(loaded, poses))
    for column, now, then in (
        (BASE_ANGLE, along.base_joint, at_home.base_joint),
        (PLATFORM_ANGLE, along.platform_joint, at_home.platform_joint),
    ):
        if now is not None and then is not None:
            cosines = np.clip((now * then).sum(axis=-1), -1.0, 1.0)
            needs[0, column] = np.arccos(cosines).max()
    return needs


def loaded_machine(specification: Specification, machine: Platform) -> Platform:
    """Return a machine with the payload of a specification."""
    payload = specification.payload
    if payload is None:
        return machine
    moment = payload.mass * payload.radius**2
    inertia = np.full(3, moment) if moment else None
    return with_payload(machine, Payload(payload.mass, (0.0, 0.0, payload.height), inertia))


def _result(
    specification: Specification,
    values: FloatArray,
    machine: Platform,
    text: str,
    judged: Assessment,
    evaluations: int,
) -> Design:
    names = specification.free_numbers
    demands = {
        name: Demand._make([*(float(numbers[0]) for numbers in demand[:3]), demand.unit])
        for name, demand in judged.demands.items()
    }
    offsets = specification.tasks(SEARCHED_STEPS).offsets
    verdict = rest_feasibility(
        loaded_machine(specification, machine),
        offsets + np.array([*machine.home[:3], *np.zeros(4)]),
        tuple(f"pose {number}" for number in range(1, len(offsets) + 1)),
        "at rest at all poses",
    )
    for margin in verdict.violated:
        demands[margin.quantity] = Demand(margin.required, margin.limit, margin.share, margin.unit)
    actuator = ""
    if specification.actuators:
        actuator = specification.actuators[int(judged.actuators[0])].name
    return Design(
        specification,
        dict(zip(names, map(float, values), strict=False)),
        machine,
        text,
        dict(sorted(demands.items(), key=lambda entry: -entry[1].share)),
        {name: float(value[0]) for name, value in judged.figures.items()},
        _sensitivity(specification, values),
        actuator,
        evaluations,
    )


def _sensitivity(specification: Specification, values: FloatArray) -> dict[str, dict[str, float]]:
    """Return how much the share of each demand changes with each free number."""
    names = specification.free_numbers
    steps = np.zeros((len(names), len(values)))
    np.fill_diagonal(steps, SENSITIVITY_STEP * values[: len(names)])
    tasks = specification.tasks()
    ups, downs = (assess(specification, values + sign * steps, tasks) for sign in (0.5, -0.5))
    result: dict[str, dict[str, float]] = {}
    for name, demand in ups.demands.items():
        change = (demand.share - downs.demands[name].share) / SENSITIVITY_STEP
        result[name] = dict(zip(names, change.tolist(), strict=True))
    return result


def _impossible(
    search: Search, seen: Assessment, seed: int, say: Callable[[str], None]
) -> ImpossibleDesignError:
    """Return the error of a specification that no candidate meets.

    Each demand is dropped in turn: those without which a machine exists contradict the others.
    """
    missed = [
        name for name, demand in seen.demands.items() if demand.share[0] > 1.0 + NEGLIGIBLE_EXCESS
    ]
    in_the_way = []
    tight = [name for name, demand in seen.demands.items() if demand.share[0] >= TIGHT_SHARE]
    for name in dict.fromkeys(map(_limit_of, tight)):
        say(f"search without a limit of {name}")
        scale = dict(search.scale) | {
            one: 0.0 for one in seen.demands if _limit_of(one) == name and one != "reach"
        }
        relaxed = replace(search, scale=scale)
        if relaxed.is_possible(search.specification.minimise, seed):
            in_the_way.append(name)
    text = f"no machine was found that meets all demands: the nearest one misses {_list(missed)}. "
    if in_the_way:
        text += f"Without {_list(in_the_way, 'or')} there is one: loosen one of these"
    else:
        text += "Dropping any single limit does not help: ask for less, or widen the [bounds]"
    return ImpossibleDesignError(text, {"missed": tuple(missed), "in_the_way": tuple(in_the_way)})


def _limit_of(demand: str) -> str:
    """Return what a demand's limit is: both joint angles have one, and all of an actuator are."""
    if demand.endswith("of the actuator"):
        return "the catalogue"
    return "joint angle" if demand.startswith("joint angle") else demand


def _list(names: list[str], word: str = "and") -> str:
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
