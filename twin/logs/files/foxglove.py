"""Messages that Foxglove shows: their schemas, from samples of channels and back.

Reference:
    Foxglove SDK, schemas/jsonschema: JointStates, PoseInFrame, FrameTransforms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.logs.channel import POSE_UNITS, Channel
from twin.logs.log import Log

JOINTS = {"coordinates": "position", "rates": "velocity", "forces": "effort"}
"""Channels of the legs -> their field in the state of a joint."""

VALUES, JOINT_STATES = "platform_twin.Values", "foxglove.JointStates"
POSE, TRANSFORMS = "foxglove.PoseInFrame", "foxglove.FrameTransforms"

NANOSECONDS = 10**9

Message = dict[str, Any]


def _table(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


NUMBER, TEXT, WHOLE = {"type": "number"}, {"type": "string"}, {"type": "integer", "minimum": 0}
TIME = {**_table(sec=WHOLE, nsec=WHOLE), "title": "time"}
VECTOR = _table(x=NUMBER, y=NUMBER, z=NUMBER)
QUATERNION = _table(x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
JOINT = {**_table(name=TEXT, position=NUMBER, velocity=NUMBER, effort=NUMBER), "required": ["name"]}
FRAME = _table(
    timestamp=TIME,
    parent_frame_id=TEXT,
    child_frame_id=TEXT,
    translation=VECTOR,
    rotation=QUATERNION,
)
SCHEMAS: dict[str, dict[str, Any]] = {
    name: {"title": name, **schema}
    for name, schema in (
        (VALUES, _table(timestamp=TIME, values=_list(NUMBER))),
        (JOINT_STATES, _table(timestamp=TIME, joints=_list(JOINT))),
        (
            POSE,
            _table(
                timestamp=TIME, frame_id=TEXT, pose=_table(position=VECTOR, orientation=QUATERNION)
            ),
        ),
        (TRANSFORMS, _table(transforms=_list(FRAME))),
    )
}
"""JSON schemas by name."""


class Topic:
    """Channels with the same times whose samples make the messages of one topic."""

    def __init__(self, name: str, schema: str, channels: Sequence[Channel]) -> None:
        """Name the topic, its schema, and its channels."""
        self.name, self.schema, self.channels = name, schema, tuple(channels)
        self.time = self.channels[0].time

    def message(self, row: int, nanoseconds: int) -> Message:
        """Return the message of a sample, stamped with its time."""
        stamp = {"sec": nanoseconds // NANOSECONDS, "nsec": nanoseconds % NANOSECONDS}
        values = [channel.values[row].tolist() for channel in self.channels]
        if self.schema == JOINT_STATES:
            fields = [JOINTS[channel.name] for channel in self.channels]
            joints = [
                {"name": f"leg_{leg}", **dict(zip(fields, numbers, strict=True))}
                for leg, numbers in enumerate(zip(*values, strict=True), 1)
            ]
            return {"timestamp": stamp, "joints": joints}
        if self.schema == VALUES:
            return {"timestamp": stamp, "values": values[0]}
        position = dict(zip("xyz", values[0][:3], strict=True))
        rotation = dict(zip("wxyz", values[0][3:], strict=True))
        if self.schema == POSE:
            pose = {"position": position, "orientation": rotation}
            return {"timestamp": stamp, "frame_id": "base", "pose": pose}
        frames = {"parent_frame_id": "base", "child_frame_id": "platform"}
        return {
            "transforms": [
                {"timestamp": stamp, **frames, "translation": position, "rotation": rotation}
            ]
        }


def topics(log: Log) -> list[Topic]:
    """Return the topics of a log: /joints, /tf, and one for every other channel."""
    found = []
    joints = [channel for channel in log.channels if channel.name in JOINTS]
    joints = [
        each
        for each in joints
        if each.width == joints[0].width and np.array_equal(each.time, joints[0].time)
    ]
    if joints:
        found.append(Topic("/joints", JOINT_STATES, joints))
    for channel in log.channels:
        if channel.units == POSE_UNITS:
            found.append(Topic(f"/{channel.name}", POSE, [channel]))
            if channel.name == "pose":
                found.append(Topic("/tf", TRANSFORMS, [channel]))
        elif channel not in joints:
            found.append(Topic(f"/{channel.name}", VALUES, [channel]))
    return found


def samples(schema: str, message: Message, names: Sequence[str]) -> list[list[float]]:
    """Return the values of each channel in a message of a topic of ours.

    Raises:
        KeyError: a field is missing.
        TypeError: a field is of another kind.
    """
    if schema == JOINT_STATES:
        return [[float(joint[JOINTS[name]]) for joint in message["joints"]] for name in names]
    if schema == POSE:
        place, turn = message["pose"]["position"], message["pose"]["orientation"]
        return [[float(place[k]) for k in "xyz"] + [float(turn[k]) for k in "wxyz"]]
    return [[float(value) for value in message["values"]]]
