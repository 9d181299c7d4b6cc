"""Mutations of the car, the ball, the shaking base, the environments and motion cueing."""

from __future__ import annotations

from mutations.change import Change, Formula, Value
from mutations.run import Mutation

CAR = "twin.kernels.tasks.motion_cueing.cues"
CUEING = "twin.kernels.tasks.motion_cueing"
TRACKING = "twin.kernels.tasks.pose_tracking"
BALANCE = "twin.kernels.tasks.ball_balance"
ISOLATION = "twin.kernels.tasks.vibration_isolation"
CONTACT, PLACE = "twin.kernels.ball", "twin.kernels.ball"
SHAKING, REWARD = "twin.kernels.tasks.task", "twin.kernels.tasks.task"

HEAD_FORCE = "car braking in a bend: specific force"
TURN_RATE = "car braking in a bend: angular rate"
INCLINE, TURNTABLE = "ball on an incline", "ball on a turntable"
ANY_MOTION, IN_MUJOCO, IN_BULLET = "ball on a plate in", "ball, MuJoCo", "ball, Bullet"
BALL_SEEN, BALL_REWARD = "BallBalance: observations", "BallBalance: reward"
ROOM = "VibrationIsolation, reference: platform in the room"
ROOM_IN_MUJOCO = "VibrationIsolation, MuJoCo: platform in the room"
ROOM_IN_BULLET = "VibrationIsolation, Bullet: platform in the room"
BASE_PLACE = "VibrationIsolation, base: displacement"
BASE_GIVEN = "VibrationIsolation, base: acceleration given"
BASE_LEVEL = "VibrationIsolation, base: RMS"
ISOLATION_SEEN, ISOLATION_REWARD = "VibrationIsolation: observations", "VibrationIsolation: reward"
PERCEIVED_IN_VEHICLE = "MotionCueing: motion perceived by the vehicle's"
PERCEIVED_ON_PLATFORM = "MotionCueing: motion perceived by the platform's"
CUEING_SEEN, CUEING_REWARD = "MotionCueing: observations", "MotionCueing: reward"
TRACKING_SEEN, TRACKING_REWARD = "PoseTracking: observations", "PoseTracking: reward"

STEWART: tuple[tuple[str, Change, str], ...] = (
    (
        "car: load transfer reversed",
        Formula(
            f"{CAR}.car_rate", "load_transfer = car[CAR_MASS]", "load_transfer = -car[CAR_MASS]"
        ),
        HEAD_FORCE,
    ),
    (
        "car: centripetal term of the forward speed reversed",
        Formula(f"{CAR}.car_rate", "a_x + v * r", "a_x - v * r"),
        HEAD_FORCE,
    ),
    (
        "car: centripetal term of the side speed reversed",
        Formula(f"{CAR}.car_rate", "a_y - u * r", "a_y + u * r"),
        HEAD_FORCE,
    ),
    (
        "car: centripetal terms at the head reversed",
        Formula(
            f"{CAR}.sensed_motion",
            "rate[1] - state[2] * r, rate[2] + state[1] * r",
            "rate[1] + state[2] * r, rate[2] - state[1] * r",
        ),
        HEAD_FORCE,
    ),
    (
        "car: front and rear tyres exchanged",
        Formula(
            "twin.motion.cueing.manoeuvre.Car.packed",
            "*vars(front).values(), *vars(rear).values()",
            "*vars(rear).values(), *vars(front).values()",
        ),
        HEAD_FORCE,
    ),
    (
        "car: rolls into the bend",
        Formula(
            f"{CAR}.car_rate",
            "roll_moment = sprung_moment * a_y",
            "roll_moment = -sprung_moment * a_y",
        ),
        HEAD_FORCE,
    ),
    (
        "car: gravity left out of the specific force",
        Formula(f"{CAR}.sensed_motion", "state[1] * r, GRAVITY)", "state[1] * r, 0.0)"),
        HEAD_FORCE,
    ),
    (
        "car: roll of the sensors' axes with the other sign",
        Formula(
            f"{CAR}.to_body",
            "cos_roll * vector[1] + sin_roll * z",
            "cos_roll * vector[1] - sin_roll * z",
        ),
        TURN_RATE,
    ),
    (
        "random drives: understeer gradient of exchanged axles",
        Formula(
            "twin.envs.motion_cueing.manoeuvres.wheel_angle",
            "car.rear / front - car.front / rear",
            "car.front / front - car.rear / rear",
        ),
        "car on a steady circle",
    ),
    (
        "ball: moment of inertia 0.5 m r² in the equations",
        Formula("twin.model.ball.Ball.constants", "self.inertia_factor,", "0.5,"),
        INCLINE,
    ),
    (
        "ball: moment of inertia 0.5 m r² in MuJoCo",
        Formula("twin.model.ball.Ball.inertia", "self.inertia_factor", "0.5"),
        IN_MUJOCO,
    ),
    (
        "ball: moment of inertia 0.5 m r² in Bullet",
        Formula("twin.model.ball.Ball.inertia", "self.inertia_factor", "0.5"),
        IN_BULLET,
    ),
    (
        "ball: no Coriolis term",
        Formula(f"{CONTACT}.contact_bias", "scale(2.0, cross(omega", "scale(0.0, cross(omega"),
        TURNTABLE,
    ),
    (
        "ball: no gyroscopic term",
        Formula(
            f"{CONTACT}.contact_bias",
            "gyroscopic = scale(ball[BALL_RADIUS]",
            "gyroscopic = scale(0.0",
        ),
        ANY_MOTION,
    ),
    (
        "ball: half the rolling resistance",
        Formula(
            f"{CONTACT}.resisting_moment", "-ball[BALL_RESISTANCE]", "-0.5 * ball[BALL_RESISTANCE]"
        ),
        INCLINE,
    ),
    (
        "ball: half the rolling resistance in MuJoCo",
        Formula(
            "twin.engines.mjcf.add_ball",
            "ball.rolling_resistance * ball",
            "0.5 * ball.rolling_resistance * ball",
        ),
        IN_MUJOCO,
    ),
    (
        "ball seen in base axes",
        Formula(
            f"{PLACE}.state_on_plate",
            "position = rotate_back(platform.matrix, ball_arm)",
            "position = ball_arm",
        ),
        BALL_SEEN,
    ),
    (
        "ball seen without the plate's own turning",
        Formula(
            f"{PLACE}.state_on_plate",
            "subtract(velocity, cross(platform.omega, ball_arm))",
            "velocity",
        ),
        BALL_SEEN,
    ),
    (
        "ball: velocity of its target reversed",
        Formula(
            f"{BALANCE}.move_target", "present_target[2] = -radius", "present_target[2] = radius"
        ),
        BALL_SEEN,
    ),
    (
        "ball: half of the tilt that is asked for",
        Formula(
            f"{BALANCE}.pose_command",
            "= add_increment(offset, k, actions[i, k], law)",
            "= 0.5 * add_increment(offset, k, actions[i, k], law)",
        ),
        "BallBalance: tilt",
    ),
    (
        "ball: slope of the plate reversed",
        Formula(f"{BALANCE}.sense", "-matrix[6 + k]", "matrix[6 + k]"),
        BALL_SEEN,
    ),
    (
        "ball: reward of its speed reversed",
        Formula(f"{REWARD}.calmness", "return -min(", "return min("),
        BALL_REWARD,
    ),
    (
        "base shaking half as large in the analytic engine",
        Formula(
            "twin.kernels.batched.analytic.begin_step",
            "- inputs.shaking[i, substep, k]",
            "- 0.5 * inputs.shaking[i, substep, k]",
        ),
        ROOM,
    ),
    (
        "base shaking half as large in MuJoCo",
        Formula(
            "twin.simulation.batched.mujoco.MujocoBatchedPlant._set_base_accelerations",
            "fields -= ",
            "fields -= 0.5 * ",
        ),
        ROOM_IN_MUJOCO,
    ),
    (
        "base shaking half as large in Bullet",
        Formula(
            "twin.simulation.batched.bullet.BulletRow.advance",
            "[:] = shaking",
            "[:] = 0.5 * shaking",
        ),
        ROOM_IN_BULLET,
    ),
    (
        "head of the driver not turned with the platform",
        Formula(
            f"{CAR}.head_velocity",
            "rotate(turn, vector_at(head, 0))",
            "vector_at(head, 0)",
        ),
        PERCEIVED_ON_PLATFORM,
    ),
    (
        "gravity left out of what the platform's driver feels",
        Formula(f"{CAR}.fill_still", "(0.0, 0.0, GRAVITY)", "(0.0, 0.0, 0.0)"),
        PERCEIVED_ON_PLATFORM,
    ),
    (
        "canals and otoliths exchanged",
        Formula(f"{CAR}.sense_all", "models[j // 3]", "models[1 - j // 3]"),
        PERCEIVED_IN_VEHICLE,
    ),
    (
        "vehicle's driver a period ahead",
        Formula(
            f"{CAR}.feel_vehicle",
            "table_index(senses, step)]",
            "table_index(senses, step + 1)]",
        ),
        PERCEIVED_IN_VEHICLE,
    ),
    (
        "commanded pose by the speed at the end of a period",
        Formula(
            f"{CAR}.fill_pose_command",
            "0.5 * period * (previous_rate + rates[i, axis])",
            "period * rates[i, axis]",
        ),
        "MotionCueing: command against",
    ),
    (
        "yaw and roll of the platform exchanged",
        Formula(f"{CUEING}.task.observe", "8 - axis", "axis"),
        CUEING_SEEN,
    ),
    (
        "reward of cueing: errors in five thresholds",
        Value(f"{CUEING}.task.THRESHOLD_SCALE", 5.0),
        CUEING_REWARD,
    ),
    (
        "errors of position reversed",
        Formula(
            "twin.kernels.tasks.task.fill_pose_error",
            "reference[k] - pose[k]",
            "pose[k] - reference[k]",
        ),
        TRACKING_REWARD,
    ),
    (
        "reward of closeness: another scale",
        Formula(f"{REWARD}.closeness", "log1p(error / scale)", "log1p(2.0 * error / scale)"),
        TRACKING_REWARD,
    ),
    (
        "reference: slope of its fade left out",
        Formula(
            f"{TRACKING}.fill_axes",
            "slope * value[k] + window * rate[k]",
            "window * rate[k]",
        ),
        TRACKING_SEEN,
    ),
    (
        "preview of the reference a period late",
        Formula(
            f"{TRACKING}.observe",
            "row_first, row_second = (\n            min(row_now + preview_index, last_row),\n"
            "            min(row_now + preview_index + 1, last_row),",
            "row_first, row_second = (\n            min(row_now + preview_index - 1, last_row),\n"
            "            min(row_now + preview_index, last_row),",
        ),
        TRACKING_SEEN,
    ),
    (
        "position loop with the other sign",
        Formula(f"{TRACKING}.velocity_command", "rate += law.gain", "rate -= law.gain"),
        "PoseTracking: commanded speeds",
    ),
    (
        "forces of actions with the other sign",
        Formula(
            "twin.envs.pose_tracking.task.TrackingActions.fill",
            "np.multiply(actions, law.scale",
            "np.multiply(-actions, law.scale",
        ),
        "PoseTracking: work",
    ),
)
"""Shared code of tasks on the usual machine: what is wrong, the change, the measure."""

COMPLIANT: tuple[tuple[str, Change, str], ...] = (
    (
        "base shaking half as large in what the engine is given",
        Formula(f"{ISOLATION}.fill_shaking_now", "= mean[i", "= 0.5 * mean[i"),
        BASE_GIVEN,
    ),
    (
        "base shaking: sines of half the acceleration",
        Formula(
            "twin.envs.random_motion.random_lines",
            "acceleration * sqrt(2.0 / count)",
            "0.5 * acceleration * sqrt(2.0 / count)",
        ),
        BASE_LEVEL,
    ),
    (
        "base shaking: slope of the fade left out",
        Formula(f"{SHAKING}.fill_shaking", "level * rate + slope * position", "level * rate"),
        BASE_GIVEN,
    ),
    (
        "base shaking: phases with the other sign",
        Formula(
            f"{SHAKING}.fill_shaking", "(index * step) + phases[k]", "(index * step) - phases[k]"
        ),
        BASE_PLACE,
    ),
    (
        "inertial sensor of the task without gravity",
        Formula(
            f"{ISOLATION}.sense",
            "signals.absolute_acceleration[i, 2] + settings.gravity",
            "signals.absolute_acceleration[i, 2]",
        ),
        ISOLATION_SEEN,
    ),
    (
        "reward of stillness: another scale",
        Value(f"{REWARD}.STILL_FRACTION", 0.2),
        ISOLATION_REWARD,
    ),
)
"""The same of the machine whose base shakes."""

CUED: tuple[tuple[str, Change, str], ...] = (
    (
        "head's acceleration with half of alpha x r",
        Formula(
            "twin.motion.cueing.workspace_use.sensed_manoeuvre",
            "cross(acceleration[:, 3:], arm)",
            "0.5 * cross(acceleration[:, 3:], arm)",
        ),
        "specific force at a moving head",
    ),
    (
        "head's acceleration without its centripetal term",
        Formula(
            "twin.motion.cueing.workspace_use.sensed_manoeuvre",
            " + cross(spin, cross(spin, arm))",
            "",
        ),
        "specific force at a moving head",
    ),
    (
        "washout's break frequency a tenth higher",
        Formula(
            "twin.motion.cueing.classical._default_settings",
            "np.sqrt(EXPECTED_FORCE / travel[:3])",
            "1.1 * np.sqrt(EXPECTED_FORCE / travel[:3])",
        ),
        "classical washout of a small force",
    ),
    (
        "tilt coordination with the other sign",
        Formula("twin.motion.cueing.classical.gravity_tilt", "[-1.0, 1.0]", "[1.0, -1.0]"),
        "classical washout of a small force",
    ),
)
"""Motion cueing: found by its own case."""

MUTATIONS = (
    *(
        Mutation("stewart", "both", text, change, "environments", name)
        for text, change, name in STEWART
    ),
    *(
        Mutation("compliant_stewart", "both", text, change, "environments", name)
        for text, change, name in COMPLIANT
    ),
    *(
        Mutation("stewart", "both", text, change, "motion_cueing", name)
        for text, change, name in CUED
    ),
)
"""Wrong tasks, alike for all engines unless the text names one."""
