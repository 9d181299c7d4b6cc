"""The machine that does what a specification demands and needs the least of something.

The search is SciPy's differential evolution over compiled batches of candidates. It sees massless
cranks and legs at a number of poses; the machine that it finds is built, and judged again with all
its masses at other poses by the functions behind `twin feasible`. Where the legs' masses break a
limit, the search is repeated with that limit tightened.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from scipy import optimize

from twin.analysis.feasibility.collisions import closest_legs
from twin.analysis.feasibility.course import leg_points
from twin.analysis.feasibility.feasibility import rest_feasibility
from twin.analysis.feasibility.joint_angles import angle_between, directions
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.platform import Platform
from twin.analysis.stiffness import compliance_matrix, natural_modes
from twin.basics.arrays import FloatArray, one_of, whole_number
from twin.design.candidates import Candidates, candidates, free_bounds
from twin.design.demands import Assessment, Demand, assess, judge
from twin.design.specification import (
    SEARCHED_STEPS,
    Objective,
    Specification,
    Tasks,
    actuator_units,
    is_angle,
)
from twin.errors import ImpossibleDesignError, InputError, ParameterError, StateError, listed
from twin.kernels.design import Needs
from twin.kernels.legs import rss
from twin.kernels.legs.interface import BASE_JOINT, PLATFORM_JOINT
from twin.machine.file.data_sheet.estimates import SHEET_SOURCE
from twin.machine.file.data_sheet.legs import leg_texts
from twin.machine.file.data_sheet.sheet import DataSheet
from twin.machine.file.data_sheet.text import sheet_text
from twin.machine.file.read import parameters_from

POPULATION_FACTOR = 12
"""Candidates of a generation, per free number."""

MAX_GENERATIONS = 300

CONVERGENCE_SPREAD = 1e-5
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

MAX_SEARCHES = 4
"""Most searches with different random numbers."""

COST_AGREEMENT = 2e-3
"""Relative difference below which two searches have found the same best value."""

SIMPLEX_PER_GENERATION = 6
"""Evaluations of the simplex after a search, per generation of it."""

FRONT_TOLERANCE = 0.005
"""Part by which the last machine of a front may need more of the other objective than its best."""

TIGHT_SHARE = 0.8
"""Part of a limit that is used, above which the limit may be in the way."""

PENALTY_COST = 1e9
"""Least cost of a candidate that misses a demand; every sensible machine is far below, in SI units.
"""

SIGNIFICANT_DIGITS = 6
"""Significant digits of the free numbers of a machine that is built."""

SENSITIVITY_STEP = 0.01
"""Change of a free number, in parts of it, for the sensitivity of a demand."""

DESIGN_SOURCE = "Design"

SHEET_HEADING = "# Written by `twin new` from the numbers of a data sheet."

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

    def to_toml(self) -> str:
        """Return the text of the machine's platform.toml."""
        return self.text

    @property
    def margins(self) -> dict[str, float]:
        """Demand -> fraction of its limit that is left."""
        return {name: 1.0 - demand.share for name, demand in self.demands.items()}

    @property
    def at_bounds(self) -> list[str]:
        """Names of the free numbers within a hundredth of a bound that no limit of a demand is."""
        bounds, limits = free_bounds(self.specification), self.specification.limits
        names = []
        for (name, value), (low, high) in zip(self.values.items(), bounds, strict=False):
            is_limited = (
                limits.footprint if name.endswith("radius") else name == "height" and limits.height
            )
            nearest = value - low if is_limited else min(value - low, high - value)
            if nearest < 0.01 * (high - low):
                names.append(name)
        return names


@dataclass
class Search:
    """A search for the best candidate.

    Attributes:
        specification: the demands and the objective.
        generations: most generations.
        tasks: at which candidates are judged.
        scale: demand -> factor of its share.
        evaluations: candidates judged so far.
    """

    specification: Specification
    generations: int
    tasks: Tasks
    scale: dict[str, float] = field(default_factory=dict)
    evaluations: int = 0

    def __post_init__(self) -> None:
        self.bounds = free_bounds(self.specification)
        self.are_whole = np.arange(len(self.bounds)) >= len(self.specification.free_numbers)

    def run(self, seed: int = 0) -> tuple[FloatArray, Assessment]:
        """Return the free numbers `(d,)` of the best candidate, and its assessment.

        Different random numbers may end in different valleys: the search is repeated until two
        agree on the best value.
        """
        best, least = np.empty(0), np.inf
        for attempt in range(MAX_SEARCHES):
            values = self._refined(self._evolved(seed + attempt))
            # Rounded numbers may use a little of the slack.
            value = float(self.cost(values[None], slack=0.0)[0])
            agreed = abs(value - least) <= COST_AGREEMENT * abs(value)
            if value < least:
                best, least = values, value
            if agreed and value < PENALTY_COST:
                break
        return best, assess(self.specification, best[None], self.tasks)

    def is_possible(self, seed: int) -> bool:
        """Return whether a search finds a candidate that meets all demands; it ends there."""
        return bool(
            self.cost(self._evolved(seed, good_enough=PENALTY_COST)[None])[0] < PENALTY_COST
        )

    def _evolved(self, seed: int, good_enough: float = -np.inf) -> FloatArray:
        """Return the free numbers that differential evolution finds.

        Args:
            seed: of the random numbers.
            good_enough: cost below which it ends.
        """
        solution = optimize.differential_evolution(
            lambda columns: self.cost(columns.T),
            self.bounds,
            # Steps towards the best one only converge too early where few candidates hold.
            strategy="currenttobest1bin",
            popsize=POPULATION_FACTOR,
            maxiter=self.generations,
            tol=CONVERGENCE_SPREAD,
            atol=0.0,
            seed=seed % 2**32,
            polish=False,
            init="sobol",
            updating="deferred",
            vectorized=True,
            integrality=self.are_whole,
            callback=lambda intermediate_result: bool(intermediate_result.fun < good_enough),
        )
        return np.asarray(solution.x)

    def _refined(self, values: FloatArray) -> FloatArray:
        """Return the free numbers that a simplex finds from others, rounded."""
        refined = optimize.minimize(
            lambda candidate: float(self.cost(candidate[None])[0]),
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

    def cost(self, values: FloatArray, slack: float = SEARCH_SLACK) -> FloatArray:
        """Return the objective of candidates `(m, d)`, or more where a demand is missed.

        `slack` is the part of each limit that is left free.
        """
        self.evaluations += len(values)
        assessment = assess(self.specification, values, self.tasks)
        excess = assessment.excess(slack, self.scale)
        goal = assessment.figures[self.specification.minimise]
        # Both methods only compare; the root keeps a small excess from counting as converged.
        missed = PENALTY_COST * (1.0 + excess**0.25)
        return np.where(excess > 0.0, missed, np.minimum(goal, missed))


def design(
    specification: Specification,
    *,
    seed: int = 0,
    generations: int = MAX_GENERATIONS,
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
    say = progress or (lambda _: None)
    search = Search(specification, generations, specification.tasks())
    missed: tuple[str, ...] = ()
    for steps in SEARCH_STEPS:
        say(f"search for the least {specification.minimise}")
        search.tasks = specification.tasks(steps)
        values, assessment = search.run(seed)
        if assessment.excess(0.0, search.scale)[0] > NEGLIGIBLE_EXCESS:
            raise _impossible(search, assessment, seed, say)
        say("judge the machine that was found")
        try:
            best = _built(search, values, assessment)
        except StateError:  # out of reach, singular, or unstable
            missed = ("reach",)
            continue
        missed = tuple(name for name, left in best.margins.items() if left < -NEGLIGIBLE_EXCESS)
        if not missed:
            return best
        for name in assessment.demands.keys() & {*missed}:
            growth = best.demands[name].share / float(assessment.demands[name].share[0])
            search.scale[name] = (1.0 + SEARCH_SLACK) * growth
    raise ImpossibleDesignError(
        f"the machine that was found misses {listed(missed, ' and ')} at poses between those of "
        "the search, or once its legs have masses; loosen one of these",
        {"missed": missed, "in_the_way": missed},
    )


def front(
    specification: Specification,
    other: Objective,
    *,
    points: int = 5,
    seed: int = 0,
    generations: int = MAX_GENERATIONS,
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
    one_of(other, "other", sorted({*get_args(Objective)} - {specification.minimise}))
    if other == "price" and not specification.actuators:
        raise InputError("other", "a price needs a catalogue of actuators")
    whole_number(points, "points", 2)

    def best(**change: Any) -> Design:
        changed = specification.model_copy(update=change)
        return design(changed, seed=seed, generations=generations, progress=progress)

    machines = [best(), replace(best(minimise=other), specification=specification)]
    ends = [machine.figures[other] for machine in machines]
    for bound in np.geomspace(ends[0], (1.0 + FRONT_TOLERANCE) * ends[1], points - 1)[1:]:
        with suppress(ImpossibleDesignError):
            if other == "price":
                cheap = (
                    actuator for actuator in specification.actuators if actuator.price <= bound
                )
                machines.append(best(actuators=tuple(cheap)))
            else:
                limits = specification.limits.model_copy(update={other: float(bound)})
                machines.append(best(limits=limits))
    result: list[Design] = []
    machines.sort(
        key=lambda machine: (machine.figures[specification.minimise], machine.figures[other])
    )
    for machine in machines:
        if not result or machine.figures[other] < result[-1].figures[other]:
            result.append(machine)
    return result


def _built(search: Search, values: FloatArray, assessment: Assessment) -> Design:
    """Return the machine of a candidate, judged with all its masses."""
    specification = search.specification
    needs = _needs(specification, _load(_text(specification, values, assessment)))
    judged = judge(specification, candidates(specification, values[None]), needs)
    text = _text(specification, values, judged)
    machine = _load(text)
    demands = {
        name: Demand._make([*(float(numbers[0]) for numbers in demand[:3]), demand.unit])
        for name, demand in judged.demands.items()
    }
    poses = _poses(specification.tasks(SEARCHED_STEPS), machine)
    verdict = rest_feasibility(
        loaded_machine(specification, machine),
        poses,
        tuple(map(str, range(len(poses)))),
        "at rest at all poses",
    )
    for margin in verdict.violated:
        demands[margin.quantity] = Demand(margin.required, margin.limit, margin.share, margin.unit)
    catalogue = specification.actuators
    return Design(
        specification,
        specification.named(values.tolist()),
        machine,
        text,
        dict(sorted(demands.items(), key=lambda entry: -entry[1].share)),
        {name: float(value[0]) for name, value in judged.figures.items()},
        _sensitivity(specification, values),
        catalogue[int(judged.actuators[0])].name if catalogue else "",
        search.evaluations,
    )


def _load(text: str) -> Platform:
    return Platform(parameters_from(tomllib.loads(text), "design"))


def _text(specification: Specification, values: FloatArray, judged: Assessment) -> str:
    """Return the platform.toml of a candidate.

    Raises:
        InputError: no machine has these numbers.
    """
    numbers = specification.named(values)
    units, cranks = actuator_units(specification.legs), specification.legs == "rss"
    wanted = candidates(specification, values[None])
    low, high = judged.ranges[0]
    sizes = {"stroke": high - low}
    for name in ("force", "speed"):
        reserved = float(f"{FORCE_RESERVE * judged.figures[name][0]:.2g}")
        sizes[name] = getattr(specification.limits, name) or reserved
    if specification.actuators:
        actuator = specification.actuators[int(judged.actuators[0])]
        sizes = {name: getattr(actuator, name) for name in sizes}
        low = min(max(actuator.retracted, high - actuator.stroke), low)
    entries = {name: f"{value:.9g} {units[name]}" for name, value in sizes.items() if value}
    if specification.symmetry:
        # Of the sheet's own joints only the plate's size is kept.
        x, y = wanted.rows[0, :, PLATFORM_JOINT : PLATFORM_JOINT + 2].T
        numbers = dict.fromkeys(("base_radius", "platform_radius"), np.hypot(x, y).max())
        numbers |= dict.fromkeys(("base_spacing", "platform_spacing"), 0.1)
    for name, value in numbers.items():
        entries[name] = f"{np.degrees(value):.9g} deg" if is_angle(name) else f"{value:.9g} m"
    if not cranks:
        entries["shortest"] = f"{low:.9g} m"
    sheet = DataSheet(legs=specification.legs, title=specification.title, **entries)
    sought = np.append(wanted.rows[0, :, : rss.ELBOW_BRANCH], wanted.height)
    for legs in leg_texts(sheet):
        text = sheet_text(specification.name, sheet, legs)
        if specification.symmetry:
            text = _with_joints(text, wanted)
        with suppress(ParameterError):
            machine = _load(text)
            # Of cranks there is a text for each layout.
            found = np.append(machine.constants.legs.rows[:, : rss.ELBOW_BRANCH], machine.home[2])
            if not cranks or np.abs(found - sought).max() < 1e-6 * np.abs(sought).max():
                text = text.replace(f'"{SHEET_SOURCE}', f'"{DESIGN_SOURCE}')
                return text.replace(SHEET_HEADING, "# Written by `twin design`.").lstrip()
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


def _poses(tasks: Tasks, machine: Platform) -> FloatArray:
    """Return the poses `(k, 7)` of tasks, which are relative to home, for a machine.

    Home is level, so that only its position is added.
    """
    return np.asarray(tasks.offsets + np.array([*machine.home[:3], *np.zeros(4)]))


def _needs(specification: Specification, machine: Platform) -> Needs:
    """Return what a machine with its payload needs, at other poses."""
    tasks = specification.tasks(CHECKED_STEPS)
    poses, loaded = _poses(tasks, machine), loaded_machine(specification, machine)
    coordinates = loaded.inverse_kinematics(poses)
    forces = loaded.inverse_dynamics(poses, tasks.twists, tasks.accelerations)
    rates = np.einsum("kij,kj->ki", loaded.jacobian(poses), tasks.twists)
    spring, stiffness, frequency = specification.actuator_stiffness, 0.0, 0.0
    if spring:
        compliance = compliance_matrix(loaded, poses, stiffness=spring)[:, :3, :3]
        stiffness = 1.0 / (spring * np.linalg.norm(compliance, 2, axis=(1, 2)).max())
        slowest = natural_modes(loaded, poses, stiffness=spring).frequencies.min()
        frequency = (2.0 * np.pi * slowest) ** 2 / spring
    along = directions(loaded, leg_points(loaded, poses))
    # Home comes first.
    angles = [0.0 if part is None else angle_between(part, part[:1]).max() for part in along]
    needs = Needs(
        shortest=coordinates.min(),
        longest=coordinates.max(),
        force=np.abs(forces).max(),
        speed=np.abs(rates).max(),
        condition=np.max(loaded.condition_number(poses)),
        base_angle=angles[0],
        platform_angle=angles[-1],
        clearance=closest_legs(loaded, poses)[0],
        stiffness=stiffness,
        frequency=frequency,
        lost=0.0,
    )
    return Needs(*np.array(needs)[:, None])


def loaded_machine(specification: Specification, machine: Platform) -> Platform:
    """Return a machine with the payload of a specification."""
    payload = specification.payload
    if not payload.mass:
        return machine
    moment = payload.mass * payload.radius**2
    inertia = np.full(3, moment) if moment else None
    return with_payload(machine, Payload(payload.mass, (0.0, 0.0, payload.height), inertia))


def _sensitivity(specification: Specification, values: FloatArray) -> dict[str, dict[str, float]]:
    """Return how much the share of each demand changes with each free number."""
    tasks = specification.tasks()
    steps = SENSITIVITY_STEP * np.diag(values)[: len(specification.free_numbers)]
    ups, downs = (assess(specification, values + sign * steps, tasks) for sign in (0.5, -0.5))
    return {
        name: specification.named(
            ((demand.share - downs.demands[name].share) / SENSITIVITY_STEP).tolist()
        )
        for name, demand in ups.demands.items()
    }


def _impossible(
    search: Search, assessment: Assessment, seed: int, say: Callable[[str], None]
) -> ImpossibleDesignError:
    """Return the error of a specification that no candidate meets.

    Each limit is dropped in turn: those without which a machine exists contradict the others.
    """
    shares = {
        name: search.scale.get(name, 1.0) * float(demand.share[0])
        for name, demand in assessment.demands.items()
    }
    missed = tuple(name for name, share in shares.items() if share > 1.0 + NEGLIGIBLE_EXCESS)
    tight = (name for name, share in shares.items() if share >= TIGHT_SHARE and name != "reach")
    limits = list(dict.fromkeys(map(_limit_of, tight)))

    def possible_without(*dropped: str) -> bool:
        say(f"search without a limit of {listed(dropped, ' and ')}")
        free = {name: 0.0 for name in shares if _limit_of(name) in dropped}
        return replace(search, scale={**search.scale, **free}).is_possible(seed)

    in_the_way = [limit for limit in limits if possible_without(limit)]
    advice = f"without {listed(in_the_way, ' or ')} there is one: loosen one of these"
    if not in_the_way and possible_without(*limits):
        for limit in limits:
            others = [name for name in limits if name != limit]
            if possible_without(*others):
                limits = others
        in_the_way = limits
        advice = f"without {listed(limits, ' and ')} together there is one: loosen all of these"
    elif not in_the_way:
        advice = "nor is there one without these limits: ask for smaller ranges or widen [bounds]"
    return ImpossibleDesignError(
        "no machine was found that meets all demands: the nearest one misses "
        f"{listed(missed, ' and ')}; {advice}",
        {"missed": missed, "in_the_way": tuple(in_the_way)},
    )


def _limit_of(demand: str) -> str:
    """Return what a demand's limit is: both joint angles have one, and all of an actuator are."""
    if demand.endswith("of the actuator"):
        return "the catalogue"
    return "joint angle" if demand.startswith("joint angle") else demand
