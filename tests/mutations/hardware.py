"""Mutations of drives, encoders, homing and the inertial sensor, and what their data sheets say."""

from __future__ import annotations

from mutations.change import Change, Formula
from mutations.run import Mutation

DRIVES, KERNELS = "twin.plant.drives", "twin.kernels.plant"
MOTOR = "twin.machine.hardware.drive._through"
ACTUATION, POSITIONING = f"{KERNELS}.actuation", f"{KERNELS}.positioning"
INERTIAL, SENSOR = f"{KERNELS}.inertial", "twin.plant.inertial_sensor"

BRAKE_TIMES = """(column.ENGAGING, drive.brake_engage_time),
        (column.RELEASING, drive.brake_release_time),"""
EXCHANGED_TIMES = """(column.ENGAGING, drive.brake_release_time),
        (column.RELEASING, drive.brake_engage_time),"""

MOTORS_AND_SCREWS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "armature a fifth lighter at the leg",
        Formula(MOTOR, "drive.armature_inertia *", "0.8 * drive.armature_inertia *"),
        "inertia of the motor at the leg",
    ),
    (
        "rss",
        "armature of the gear's ratio, not of its square",
        Formula(MOTOR, "drive.armature_inertia * drive.ratio *", "drive.armature_inertia *"),
        "inertia of the motor at the leg",
    ),
    (
        "stewart",
        "motor's damping halved",
        Formula(MOTOR, "drive.viscous_torque *", "0.5 * drive.viscous_torque *"),
        "effort at steady speeds",
    ),
    (
        "stewart",
        "motor's friction of 0.7 times the data sheet's",
        Formula(MOTOR, "drive.friction_torque *", "0.7 * drive.friction_torque *"),
        "effort at steady speeds",
    ),
    (
        "driving_simulator",
        "friction falls with the speed, not with its square",
        Formula(f"{ACTUATION}.transmit", "exp(-part_speed * part_speed)", "exp(-abs(part_speed))"),
        "effort at steady speeds",
    ),
    (
        "srspm",
        "friction at rest as while sliding",
        Formula(f"{DRIVES}._fill", "seen.friction * drive.breakaway", "seen.friction"),
        "effort at which a motor begins to slide, brake open",
    ),
    (
        "stewart",
        "whole play to both sides",
        Formula(f"{DRIVES}._fill", "0.5 * seen.backlash", "seen.backlash"),
        "width of the loop of motor and leg",
    ),
    (
        "srspm",
        "damping of the transmission reversed",
        Formula(
            f"{ACTUATION}.contact",
            "return stiffness * gap + damping",
            "return stiffness * gap - damping",
        ),
        "rate of the leg after a shake",
    ),
    (
        "compliant_stewart",
        "transmission a tenth softer",
        Formula(f"{DRIVES}._fill", "= seen.stiffness", "= 0.9 * seen.stiffness"),
        "force of the transmission",
    ),
    (
        "stewart",
        "leg given the last force of a step, not the mean",
        Formula(f"{ACTUATION}.transmit", "return total / parts", "return force"),
        "change of momentum of motor and leg",
    ),
)

BRAKES_AND_LIMITS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "brake torque halved",
        Formula(MOTOR, "drive.brake_torque *", "0.5 * drive.brake_torque *"),
        "effort at which a motor begins to slide, brake closed",
    ),
    (
        "stewart",
        "times to engage and to release the brake exchanged",
        Formula(f"{DRIVES}._fill", BRAKE_TIMES, EXCHANGED_TIMES),
        "time from the command until the brake holds",
    ),
    (
        "rss",
        "brake holds at once",
        Formula(f"{ACTUATION}.brake", "state[CLOSING] == 1.0", "command > 0.0"),
        "time from the command until the brake holds",
    ),
    (
        "stewart",
        "brake holds only while it is fully closed",
        Formula(
            f"{ACTUATION}.brake",
            "elif state[CLOSING] == 0.0:\n        state",
            "else:\n        state",
        ),
        "time from the command until the brake lets go",
    ),
    (
        "stewart",
        "end stops ten times softer",
        Formula(
            f"{DRIVES}._fill_limits", "= row[column.STIFFNESS]", "= 0.1 * row[column.STIFFNESS]"
        ),
        "depth of a leg's impact",
    ),
    (
        "rss",
        "end stops without damping",
        Formula(f"{DRIVES}._fill_limits", "= row[column.DAMPING]", "= 0.0"),
        "speed of rebound",
    ),
    (
        "stewart",
        "end stops pull",
        Formula(
            f"{KERNELS}.end_stop.end_stop",
            "return max(drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate, 0.0)",
            "return drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate",
        ),
        "duration of a leg's impact",
    ),
    (
        "driving_simulator",
        "end stops at the limit switches",
        Formula(f"{DRIVES}._fill_limits", "low - beyond, high + beyond", "low, high"),
        "depth of a leg's impact",
    ),
    (
        "stewart",
        "speeds pass pressed limit switches",
        Formula(f"{ACTUATION}.gated", "return 0.0", "return command"),
        "speeds and forces given just inside and outside",
    ),
    (
        "micro_hexapod",
        "a pressed limit switch blocks both directions",
        Formula(
            f"{ACTUATION}.gated",
            "(at_lower and command < 0.0) or (at_upper and command > 0.0)",
            "at_lower or at_upper",
        ),
        "speeds and forces given just inside and outside",
    ),
    (
        "stewart",
        "forces pass the upper limit switch",
        Formula(
            f"{ACTUATION}.motor_command",
            "effort = min(effort, -gain * speed)",
            "effort = effort + 0.0",
        ),
        "speeds and forces given just inside and outside",
    ),
    (
        "stewart",
        "forces drive a motor beyond its largest speed",
        Formula(f"{ACTUATION}.motor_command", "effort, limit = 0.0, AT_SPEED", "limit = AT_SPEED"),
        "forces given above the largest speed",
    ),
    (
        "srspm",
        "upper limit switch read as the lower one",
        Formula(
            f"{KERNELS}.reading.read_actuators", "at >= drives[i, UPPER]", "at <= drives[i, UPPER]"
        ),
        "limit switches read wrongly",
    ),
)

ELECTRONICS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "commanded speeds not quantised",
        Formula(
            f"{DRIVES}._fill",
            "(column.SPEED_DIGIT, row[column.FASTEST])",
            "(column.SPEED_DIGIT, inf)",
        ),
        "commanded speed through the converter",
    ),
    (
        "micro_hexapod",
        "commanded forces not quantised",
        Formula(
            f"{DRIVES}._fill",
            "(column.EFFORT_DIGIT, row[column.PEAK])",
            "(column.EFFORT_DIGIT, inf)",
        ),
        "commanded force through the converter",
    ),
    (
        "stewart",
        "converter of one bit more",
        Formula(
            f"{DRIVES}._fill", "2.0 ** (drive.analogue_bits - 1)", "2.0 ** drive.analogue_bits"
        ),
        "commanded force through the converter",
    ),
    (
        "compliant_stewart",
        "codes of the converter up to the full range",
        Formula(f"{ACTUATION}.converted", "top - 1.0", "top"),
        "commanded speed through the converter",
    ),
    (
        "stewart",
        "motor given the end of a step of its current, not the mean",
        Formula(f"{DRIVES}._fill", "-expm1(-steps) / steps", "exp(-steps)"),
        "impulse of a motor while its current rises",
    ),
    (
        "rss",
        "commands arrive a step late",
        Formula(
            "twin.plant.plant.Plant.prepare",
            "round(self._delay / self._step)",
            "1 + round(self._delay / self._step)",
        ),
        "effort after a step of command",
    ),
    (
        "stewart",
        "motor heats with half its time constant",
        Formula(
            f"{DRIVES}._fill", "-step / drive.thermal_time", "-2.0 * step / drive.thermal_time"
        ),
        "time until the motor falls back",
    ),
    (
        "stewart",
        "hot motor not limited",
        Formula(f"{ACTUATION}.motor_command", "min(most, drive[CONTINUOUS])", "most"),
        "effort before and after the motor falls back",
    ),
    (
        "stewart",
        "velocity loop winds up",
        Formula(f"{ACTUATION}.motor_command", "effort == unlimited or", "True or"),
        "effort of a blocked motor",
    ),
    (
        "stewart",
        "another controller's feedforward not taken out of the integral",
        Formula(f"{DRIVES}.take_over", "integral -= ", "integral -= 0.0 * "),
        "change of effort where feedforward begins",
    ),
    (
        "rss",
        "feedforward that ends is lost",
        Formula(f"{DRIVES}.follow", "integral += ", "integral += 0.0 * "),
        "change of effort where feedforward begins",
    ),
    (
        "rss",
        "servo without dead band",
        Formula(f"{POSITIONING}.draw", "abs(lead) - drive[DEAD]", "abs(lead)"),
        "servo at its target",
    ),
    (
        "rss",
        "servo without the counter-voltage of its motor",
        Formula(
            "twin.machine.hardware.position_drive._Servo.loss",
            "return self.stall_torque",
            "return 0.5 * self.stall_torque",
        ),
        "servo far from its target",
    ),
    (
        "rss",
        "servo takes exact positions",
        Formula(f"{POSITIONING}.rounded", "digit == 0.0", "True"),
        "servo's position after a command",
    ),
    (
        "rss",
        "servo takes twice as many commands",
        Formula(
            "twin.plant.position_drives.fill_positioning",
            "1.0 / (found.update_rate",
            "0.5 / (found.update_rate",
        ),
        "servo takes a command at its next pulse",
    ),
    (
        "rss",
        "stepper's pull-out torque the same at all speeds",
        Formula(f"{POSITIONING}.draw", "max(0.0, 1.0 - abs(speed) / drive[TOP_SPEED])", "1.0"),
        "stepper's lag under three loads",
    ),
    (
        "rss",
        "stepper holds a tenth more",
        Formula(f"{POSITIONING}.draw", "pull_out = most *", "pull_out = 1.1 * most *"),
        "stepper held or out of step wrongly",
    ),
)

ENCODERS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "encoder gives the count below, not the nearest",
        Formula(
            f"{KERNELS}.reading.read_actuators",
            "round(at / resolution[i])",
            "(at / resolution[i] // 1.0)",
        ),
        "coordinate read by the encoder",
    ),
    (
        "srspm",
        "encoder of one count more over a turn",
        Formula(
            "twin.machine.hardware.sensors.Encoder.resolution",
            "turn / self.counts",
            "turn / (self.counts + 1)",
        ),
        "readings of the encoder off whole counts",
    ),
    (
        "stewart",
        "encoder exact between its counts",
        Formula(
            f"{KERNELS}.reading.read_actuators",
            "at = resolution[i] * round(at / resolution[i])",
            "at = 1.0 * at",
        ),
        "readings of the encoder off whole counts",
    ),
    (
        "stewart",
        "rates from the reading before the last one",
        Formula(f"{KERNELS}.reading.read_actuators", "before[i] = at\n", "before[i] += 0.0\n"),
        "rates read by the encoder",
    ),
    (
        "micro_hexapod",
        "counter half a count ahead",
        Formula(
            f"{KERNELS}.encoder_counter.counted",
            "scales[i, RESOLUTION])",
            "scales[i, RESOLUTION] + 0.5)",
        ),
        "counter against the way",
    ),
    (
        "stewart",
        "counter one count ahead",
        Formula(f"{KERNELS}.encoder_counter.counted", "return floor", "return 1.0 + floor"),
        "counter against the way",
    ),
    (
        "rss",
        "counter runs backwards",
        Formula(
            f"{KERNELS}.encoder_counter.counted",
            "coordinate - scales[i, ORIGIN]",
            "scales[i, ORIGIN] - coordinate",
        ),
        "counter against the way",
    ),
    (
        "stewart",
        "index pulse seen on the way up only",
        Formula(
            f"{KERNELS}.encoder_counter.zeroed",
            "return pulse if pulse < old else last",
            "return last",
        ),
        "counter against the way",
    ),
)

SENSORS: tuple[tuple[str, Change, str], ...] = (
    (
        "a decoder keeps the jump of the first index pulse",
        Formula(
            f"{KERNELS}.encoder_unwrapping.homing_step", "return state[SPEED]", "return change"
        ),
        "coordinates after homing",
    ),
    (
        "an index pulse one count from where it is",
        Formula(
            "twin.plant.encoder.EncoderDecoder.refer",
            "above = state[RAW] * step",
            "above = (state[RAW] + 1.0) * step",
        ),
        "coordinates after homing",
    ),
    (
        "errors of the switches reversed",
        Formula(
            "twin.plant.encoder.EncoderDecoder.refer", "estimate - present)", "present - estimate)"
        ),
        "errors of the switches",
    ),
    (
        "no error of the scale",
        Formula(
            f"{SENSOR}.draw_errors",
            "fill_diagonal(spread, triad.scale_factor)",
            "fill_diagonal(spread, 0.0)",
        ),
        "accelerometers: spread of scale factor",
    ),
    (
        "no misalignment",
        Formula(f"{SENSOR}.draw_errors", "np.full((3, 3), triad.misalignment)", "np.zeros((3, 3))"),
        "gyroscopes: spread of misalignment",
    ),
    (
        "no sensitivity of the gyroscopes to specific force",
        Formula(
            f"{SENSOR}.draw_errors", "gyroscopes.acceleration_sensitivity / STANDARD_GRAVITY", "0.0"
        ),
        "gyroscopes: spread of acceleration sensitivity",
    ),
    (
        "a tenth of the bias",
        Formula(f"{SENSOR}.draw_errors", "bias[own] = triad.bias", "bias[own] = 0.1 * triad.bias"),
        "accelerometers: spread of bias",
    ),
    (
        "one bias for three axes",
        Formula(
            f"{SENSOR}.draw_errors",
            "triad.bias * random.standard_normal(3)",
            "triad.bias * random.standard_normal()",
        ),
        "correlation of two errors",
    ),
    (
        "scales that are always too large",
        Formula(
            f"{SENSOR}.draw_errors",
            "draws = random.standard_normal((3, 3))",
            "draws = abs(random.standard_normal((3, 3)))",
        ),
        "means of the errors",
    ),
    (
        "a wandering bias of half its spread",
        Formula(
            f"{SENSOR}.draw_errors",
            "np.repeat([triad.instability",
            "0.5 * np.repeat([triad.instability",
        ),
        "gyroscopes: spread of the wandering bias",
    ),
    (
        "a wandering bias that forgets itself twice as fast",
        Formula(
            f"{SENSOR}.draw_errors",
            "[1.0 / triad.correlation_time",
            "[2.0 / triad.correlation_time",
        ),
        "gyroscopes: correlation of the wandering bias",
    ),
    (
        "readings not cut at the ranges",
        Formula(
            f"{INERTIAL}.sensor.latch",
            "max(-model[i, RANGE], min(model[i, RANGE], value))",
            "value",
        ),
        "readings beyond the ranges",
    ),
    (
        "ranges a fifth too small",
        Formula(f"{SENSOR}.draw_errors", "np.repeat(ranges, 3)", "0.8 * np.repeat(ranges, 3)"),
        "readings at nine tenths of the ranges",
    ),
    (
        "readings at half their rate",
        Formula(
            f"{SENSOR}.InertialUnit.__init__",
            "1.0 / parameters.output_rate",
            "2.0 / parameters.output_rate",
        ),
        "times of the readings",
    ),
    (
        "filter damped by half",
        Formula(
            f"{SENSOR}.InertialUnit.__init__",
            "= parameters.damping_ratio",
            "= 0.5 * parameters.damping_ratio",
        ),
        "amplitude at 75 Hz",
    ),
    (
        "bandwidth taken in rad/s: a unit",
        Formula(f"{SENSOR}.InertialUnit.__init__", "2.0 * pi * (parameters", "(parameters"),
        "phase at 75 Hz",
    ),
    (
        "noise that forgets itself at every step",
        Formula(
            f"{INERTIAL}.filter.noise_factor",
            "a, b, c, d = step",
            "a, b, c, d = 0.0, 0.0, 0.0, 0.0",
        ),
        "correlation of the noise",
    ),
    (
        "centripetal acceleration outwards",
        Formula(
            f"{INERTIAL}.motion.fill_instant",
            "cross(rate, cross(rate, arm))",
            "cross(cross(rate, arm), rate)",
        ),
        "lever arm",
    ),
    (
        "mean acceleration along the axes at the end of a step",
        Formula(
            f"{INERTIAL}.motion.fill_mean",
            "in_sensor(settings, middle, mean)",
            "in_sensor(settings, after, mean)",
        ),
        "readings beside the axis of a turntable",
    ),
)

MUTATIONS = (
    *(
        Mutation(machine, "both", text, change, "plant", measure)
        for machine, text, change, measure in (
            *MOTORS_AND_SCREWS,
            *BRAKES_AND_LIMITS,
            *ELECTRONICS,
            *ENCODERS,
        )
    ),
    *(
        Mutation("stewart", "both", text, change, "inertial_sensor", measure)
        for text, change, measure in SENSORS
    ),
)
"""Faults of hardware, which reference and engines share."""
