"""What a browser is sent that connects late: the present state, in a time that does not grow.

viser numbers its messages and keeps the newest of each kind. For a new browser it counts through
all numbers that there ever were, and serves nobody meanwhile: after some hours of a moving scene
that takes tens of seconds. Here only the messages that are kept are looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viser.infra._async_message_buffer import AsyncMessageBuffer
    from viser.infra._messages import Message

KNOWN = "1.1."
"""Releases of viser whose buffer is known; others keep their own way, slower but right."""


def replay_quickly(buffer: AsyncMessageBuffer, release: str) -> None:
    """Let a buffer of broadcast messages, of a release of viser, skip numbers that are gone."""
    if not release.startswith(KNOWN):
        return

    def windows(client_id: int, backlog_done_message: Message | None = None) -> Any:
        # The last message of the past is the last one now, not when the first is asked for.
        return _windows(buffer, client_id, buffer.message_counter - 1, backlog_done_message)

    buffer.window_generator = windows  # type: ignore[method-assign]


async def _windows(
    buffer: AsyncMessageBuffer, client: int, past: int, done: Message | None
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield messages for a client in their order, some at a time: first the past, then `done`."""
    sent = -1
    try:
        while not buffer.done:
            window: list[Message] = []
            wait = True
            # Within an atomic block nothing is handed out.
            if buffer.atomic_counter == 0:
                newest = buffer.message_counter - 1 if done is None else past
                window, sent = _next(buffer, client, sent, newest)
                wait = sent >= newest
                if done is not None and sent >= past:
                    window.append(done)
                    done = None
            # What every client has got may be forgotten.
            buffer.generator_cursors[client] = sent
            if window:
                yield window
            elif wait:
                await buffer.message_event.wait()
                buffer.message_event.clear()
            if not window or sent == buffer.message_counter - 1:
                await _rest(buffer)
    finally:
        buffer.generator_cursors.pop(client, None)


def _next(
    buffer: AsyncMessageBuffer, client: int, sent: int, newest: int
) -> tuple[list[Message], int]:
    """Return the messages after the one numbered `sent`, and the last number they reach."""
    with buffer.buffer_lock:
        numbers = []
        # Numbers grow, so the last ones are the newest.
        for number in reversed(buffer.message_from_id):
            if number <= sent:
                break
            if number <= newest:
                numbers.append(number)
        numbers.reverse()
        chosen = numbers[: buffer.max_window_size]
        window = [
            message
            for message in map(buffer.message_from_id.__getitem__, chosen)
            if message.excluded_self_client != client
        ]
    return window, chosen[-1] if len(chosen) < len(numbers) else max(sent, newest)


async def _rest(buffer: AsyncMessageBuffer) -> None:
    """Wait for as long as messages are gathered, unless somebody is in a hurry."""
    with suppress(TimeoutError):
        async with asyncio.timeout(buffer.window_duration_sec):
            await buffer.flush_event.wait()
            if not buffer.done:
                buffer.flush_event.clear()
