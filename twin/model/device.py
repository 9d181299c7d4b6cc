"""Batch calls of a machine on a graphics card: arrays go there once, and results stay there."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_pose, positive, whole_number
from twin.basics.optional import optional
from twin.errors import ForwardKinematicsError, InputError, IntegrationError, StateError
from twin.model.machine_base import no_solution
from twin.model.machine_model import MachineModel

THREADS_PER_BLOCK = 32
"""Threads of a block; with 128 of them an H200 computes 6 % fewer states in the same time."""

NO_FAILURE = np.iinfo(np.int64).max
"""Index that stands on the card while no state has failed."""

ARGUMENT_WIDTHS = {"pose": 7, "twist": 6, "acceleration": 6, "wrench": 6}
"""Length of the last axis of arguments that do not depend on the machine."""


class CardMotion(NamedTuple):
    """States of a batch, arrays on a graphics card."""

    pose: Any
    """`(..., 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: Any
    """`(..., 6)` of the platform, base axes [m/s, rad/s]"""
    deflection: Any
    """`(..., 2k)` of the springs [m], then their rates [m/s]"""


def cuda_library() -> Any:
    """Return numba's module for graphics cards.

    Raises:
        MissingDependencyError: the extra `cuda` is not installed.
        InputError: there is no card, or it cannot be used.
    """
    import numba

    simulated = getattr(numba.config, "ENABLE_CUDASIM", False)
    if not simulated:
        optional("numba_cuda")
    from twin.kernels.cuda.translation import cuda

    if not simulated and not cuda.is_available():
        raise InputError("device", "no graphics card that CUDA can use is found here")
    return cuda


def is_on_card(value: Any) -> bool:
    """Return whether an array lies on a graphics card."""
    return hasattr(value, "__cuda_array_interface__") or hasattr(value, "__cuda_ndarray__")


def as_card_array(value: Any) -> Any:
    """Return numba's view of an array on a card; nothing is copied."""
    if not hasattr(value, "__cuda_array_interface__"):
        return value
    return cuda_library().as_cuda_array(value)


class CardModel:
    """Batch calls of a machine on a graphics card.

    The methods are those of the machine, with the same arguments, shapes, units and results to
    rounding. Arguments are numpy arrays, which are copied to the card, or float64 arrays that lie
    there: results of other calls, tensors of PyTorch, arrays of CuPy. Each has the leading axes of
    the batch, or is one row for all states. Results are arrays on the card with the CUDA array
    interface, which PyTorch and CuPy take without a copy; `copy_to_host` returns a numpy array.
    With `out` they are written to an array on the card that the caller keeps: nothing is allocated.

    Every call waits for the card, to see whether a state failed. With `checked=False` calls return
    at once, and `check()` raises for all of them.

    Motions that the constraints of the legs forbid are accepted; the machine's methods refuse them.
    """

    def __init__(self, machine: MachineModel, checked: bool = True) -> None:
        """Put the constants of a machine on the card.

        Args:
            machine: the machine.
            checked: whether every call raises for states that fail; False: `check` does.

        Raises:
            MissingDependencyError: the extra `cuda` is not installed.
            InputError: there is no card.
        """
        self._cuda = cuda_library()
        from twin.kernels.cuda.batches import Sizes

        body, legs = machine.constants[:2]
        self._machine, self._sizes = machine, Sizes(type(legs), *legs.rows.shape)
        self._checked_calls = checked
        self._failure = self._cuda.to_device(np.array([NO_FAILURE]))
        self._constants = self._cuda.to_device(body), self._cuda.to_device(legs.rows.ravel())
        extra_widths = {
            "forces": machine.n_actuators,
            "lengths": machine.n_actuators,
            "deflection": 2 * machine.n_deflections,
        }
        self._widths = ARGUMENT_WIDTHS | extra_widths
        self._zeros = {width: self.copied(np.zeros(width)) for width in {*self._widths.values()}}

    def inverse_kinematics(self, pose: Any, *, out: Any = None) -> Any:
        """Return actuator coordinates `(..., n)`; see `MachineModel.inverse_kinematics`."""
        return self._run("inverse_kinematics", out, pose=pose)

    def forward_kinematics(self, lengths: Any, guess: Any = None, *, out: Any = None) -> Any:
        """Return poses `(..., 7)` of actuator coordinates on the assembly branch of a guess.

        The search begins at the guess alone, as that of `MachineModel.forward_kinematics` with one.

        Args:
            lengths: actuator coordinates `(..., n)` [m, rad].
            guess: poses `(..., 7)`, or one for all; default home.
            out: array on the card for the result.

        Raises:
            InputError: wrong shapes, not finite, no unit quaternion.
            ForwardKinematicsError: no pose was found; `data` holds index, pose (the guess) and
                lengths.
        """
        from twin.kernels.cuda.batches import search_kernel

        start = self._machine.home if guess is None else guess
        shape, inputs = self._arrays(pose=start, lengths=lengths)
        poses = self._flat_result(out, (*shape, 7))
        failed = self._launch(search_kernel(self._sizes), prod(shape), *inputs.values(), poses)
        if failed >= 0:
            length_rows = inputs["lengths"].copy_to_host().reshape(-1, self._machine.n_actuators)
            coordinates = length_rows[failed if len(length_rows) > 1 else 0]
            raise ForwardKinematicsError(
                f"entry {failed}: no pose has the coordinates {coordinates.tolist()} on the branch "
                "of its guess; give a guess nearer to the pose, or ask the machine itself, whose "
                "search is wider",
                {"index": failed, "pose": self._pose(inputs, failed), "lengths": coordinates},
            )
        return poses.reshape((*shape, 7))

    def jacobian(self, pose: Any, *, out: Any = None) -> Any:
        """Return Jacobians `(..., n, 6)`; see `MachineModel.jacobian`."""
        return self._run("jacobian", out, pose=pose)

    def jacobian_derivative(self, pose: Any, twist: Any, *, out: Any = None) -> Any:
        """Return dJ/dt `(..., n, 6)`; see `MachineModel.jacobian_derivative`."""
        return self._run("jacobian_derivative", out, pose=pose, twist=twist)

    def mass_matrix(self, pose: Any, *, deflection: Any = None, out: Any = None) -> Any:
        """Return mass matrices `(..., 6, 6)`; see `MachineModel.mass_matrix`."""
        return self._run("mass_matrix", out, pose=pose, deflection=deflection)

    def forward_dynamics(
        self,
        pose: Any,
        twist: Any,
        forces: Any,
        wrench: Any = None,
        *,
        deflection: Any = None,
        out: Any = None,
    ) -> Any:
        """Return accelerations `(..., 6 + k)`; see `MachineModel.forward_dynamics`."""
        return self._run(
            "forward_dynamics", out,
            pose=pose, twist=twist, deflection=deflection, forces=forces, wrench=wrench,
        )  # fmt: skip

    def inverse_dynamics(
        self,
        pose: Any,
        twist: Any,
        acceleration: Any,
        wrench: Any = None,
        *,
        deflection: Any = None,
        out: Any = None,
    ) -> Any:
        """Return actuator forces `(..., n)`; see `MachineModel.inverse_dynamics`."""
        return self._run(
            "inverse_dynamics", out,
            pose=pose, twist=twist, deflection=deflection, acceleration=acceleration, wrench=wrench,
        )  # fmt: skip

    def energy(self, pose: Any, twist: Any, *, deflection: Any = None) -> tuple[Any, Any]:
        """Return kinetic and potential energy `(...)` [J]; see `MachineModel.energy`."""
        shape, energies = self._flat("energy", None, pose=pose, twist=twist, deflection=deflection)
        size = prod(shape)
        return energies[:size].reshape(shape), energies[size : 2 * size].reshape(shape)

    def advance(
        self,
        pose: Any,
        twist: Any,
        forces: Any,
        wrench: Any = None,
        *,
        deflection: Any = None,
        timestep: float = 1e-3,
        steps: int = 1,
        out: CardMotion | None = None,
    ) -> CardMotion:
        """Return the states after Runge-Kutta steps under constant forces and wrenches.

        Args:
            pose: `(..., 7)`.
            twist: `(..., 6)`.
            forces: of the actuators `(..., n)` [N, N m].
            wrench: on the platform `(..., 6)`, default none.
            deflection: of springs in series and their rates `(..., 2k)`, default zero.
            timestep: [s].
            steps: how many.
            out: arrays for the result; those of `pose`, `twist` and `deflection` may be among them.

        Raises:
            InputError: wrong shapes, not finite, no unit quaternion.
            IntegrationError: a state was singular or overflowed; `data` holds its index and pose.
        """
        from twin.kernels.cuda.batches import steps_kernel

        time_step = positive(timestep, "timestep")
        whole_number(steps, "steps", 1)
        shape, inputs = self._arrays(
            pose=pose, twist=twist, deflection=deflection, forces=forces, wrench=wrench
        )
        size, widths = prod(shape), (7, 6, self._widths["deflection"])
        next_arrays = [
            self._flat_result(array if out and width else None, (*shape, width) if width else (1,))
            for array, width in zip(out or widths, widths, strict=True)
        ]
        kernel = steps_kernel(self._sizes)
        failed = self._launch(kernel, size, *inputs.values(), time_step, steps, *next_arrays)
        if failed >= 0:
            raise IntegrationError(
                f"entry {failed}: a step of {time_step:.3g} s fails (a singular state, or one that "
                "overflows); change the start or the forces",
                {"reason": "singular", "index": failed, "pose": self._pose(inputs, failed)},
            )
        if not widths[2]:
            next_arrays[2] = self._cuda.device_array(0)
        parts = zip(next_arrays, widths, strict=True)
        return CardMotion(*(array.reshape((*shape, width)) for array, width in parts))

    def check(self) -> None:
        """Wait for the card, and raise if a state failed in a call since the last check.

        Raises:
            StateError: a state has no result: its pose is singular or out of reach, its quaternion
                is no unit quaternion, or its numbers overflowed. `data["index"]` is the least index
                of such a state in its call.
        """
        first_failure = self._first_failure()
        if first_failure >= 0:
            raise StateError(
                f"entry {first_failure} of a call since the last check has no result (a singular "
                "or unreachable pose, no unit quaternion, or an overflow); call with checks to "
                "find out which",
                {"index": first_failure},
            )

    def _run(self, function_name: str, out: Any, **arguments: Any) -> Any:
        """Return the results of one of `BATCH_FUNCTIONS`, an array on the card."""
        from twin.kernels.cuda.batches import BATCH_FUNCTIONS

        shape, results = self._flat(function_name, out, **arguments)
        return results.reshape((*shape, *BATCH_FUNCTIONS[function_name].result(self._sizes)))

    def _flat(self, function_name: str, out: Any, **arguments: Any) -> tuple[tuple[int, ...], Any]:
        """Return the shape of the batch and the flat results of one of `BATCH_FUNCTIONS`."""
        from twin.kernels.cuda.batches import BATCH_FUNCTIONS, batch_kernel

        inputs = "acceleration" if "acceleration" in arguments else "forces"
        names = ("pose", "twist", "deflection", inputs, "wrench")
        shape, arrays = self._arrays(**{name: arguments.get(name) for name in names})
        results = self._flat_result(
            out, (*shape, *BATCH_FUNCTIONS[function_name].result(self._sizes))
        )
        kernel = batch_kernel(self._sizes, function_name)
        first_failure = self._launch(kernel, prod(shape), *arrays.values(), results)
        if first_failure >= 0:
            pose = as_pose(self._pose(arrays, first_failure))
            raise no_solution(self._machine.constants.legs, first_failure, pose)
        return shape, results

    def _flat_result(self, out: Any, shape: tuple[int, ...]) -> Any:
        """Return a flat array on the card for results of a shape: that of `out`, or a new one.

        Raises:
            InputError: `out` has another shape or type, or does not lie on the card.
        """
        if out is None:
            return self._cuda.device_array(prod(shape))
        array: Any = as_card_array(out) if is_on_card(out) else np.asarray(out)
        is_contiguous = is_on_card(out) and array.is_c_contiguous()
        if not is_contiguous or array.dtype != np.float64 or tuple(array.shape) != shape:
            raise InputError("out", f"must be a contiguous float64 array {shape} on the card")
        return array.reshape(prod(shape))

    def _launch(self, kernel: Any, size: int, *arguments: Any) -> int:
        """Run a kernel on all states; return the first that failed, or -1 (always unchecked)."""
        if size == 0:
            return -1
        threads = min(THREADS_PER_BLOCK, size)
        kernel[-(-size // threads), threads](*self._constants, *arguments, self._failure)
        return self._first_failure() if self._checked_calls else -1

    def _first_failure(self) -> int:
        """Return the least index of a state that failed since the last call of this, or -1."""
        index = int(self._failure.copy_to_host()[0])
        if index == NO_FAILURE:
            return -1
        self._failure.copy_to_device(np.array([NO_FAILURE]))
        return index

    def _pose(self, inputs: dict[str, Any], index: int) -> FloatArray:
        """Return the pose of a state as it was given."""
        poses = inputs["pose"].copy_to_host().reshape(-1, 7)
        pose: FloatArray = poses[index if len(poses) > 1 else 0]
        return pose

    def _arrays(self, **arguments: Any) -> tuple[tuple[int, ...], dict[str, Any]]:
        """Return the batch's shape, and flat arrays on the card by name; None: one row of zeros.

        Raises:
            InputError: wrong shapes; in arrays of numpy also not finite, no unit quaternion.
        """
        values = {name: self._checked(name, value) for name, value in arguments.items()}
        batches = {name: value.shape[:-1] for name, value in values.items()}
        try:
            shape = np.broadcast_shapes(*batches.values())
        except ValueError:
            raise InputError(
                ", ".join(arguments), "leading axes must be the same, or one row"
            ) from None
        arrays = {}
        for name, value in values.items():
            if prod(batches[name]) not in (1, prod(shape)):
                raise InputError(name, f"must have the leading axes {shape}, or be one row")
            flat_array = value.reshape(prod(value.shape)) if prod(value.shape) else np.zeros(1)
            arrays[name] = flat_array if is_on_card(flat_array) else self.copied(flat_array)
        return shape, arrays

    def copied(self, array: FloatArray) -> Any:
        """Return a flat array on the card; for an empty array one unused zero."""
        return self._cuda.to_device(array if array.size else np.zeros(1))

    def _checked(self, name: str, value: Any) -> Any:
        """Return a checked array of numpy or on the card."""
        width = self._widths[name]
        if value is None:
            return self._zeros[width]
        if not is_on_card(value):
            return as_pose(value) if name == "pose" else as_floats(value, name, width)
        value = as_card_array(value)
        if value.dtype != np.float64 or value.shape[-1:] != (width,):
            shape = tuple(value.shape)
            raise InputError(name, f"must be float64 (..., {width}), not {value.dtype} {shape}")
        if not value.is_c_contiguous():
            raise InputError(name, "must be contiguous on the card")
        return value
