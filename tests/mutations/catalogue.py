"""All mutations: of one side, then of both."""

from __future__ import annotations

import one_thread  # noqa: F401

# isort: split
from mutations import common_mode, hardware, one_sided, pilot, statements, tasks
from mutations.run import Outcome, outcome

MUTATIONS = (
    *one_sided.MUTATIONS,
    *common_mode.MUTATIONS,
    *hardware.MUTATIONS,
    *pilot.MUTATIONS,
    *statements.MUTATIONS,
    *tasks.MUTATIONS,
)


def outcome_at(place: int) -> Outcome:
    """Return the outcome of one mutation, without the change itself: no process can send it."""
    found = outcome(MUTATIONS[place])
    return found._replace(mutation=found.mutation._replace(change=None))
