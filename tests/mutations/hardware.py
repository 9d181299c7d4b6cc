"""Mutations of drives, encoders, homing and the inertial sensor, and of what identifies them."""

from __future__ import annotations

from mutations.change import Change, Formula
from mutations.run import Mutation

DRIVES, KERNELS = "twin.plant.drives", "twin.kernels.plant"
MOTOR = "twin.machine.hardware.drive._through"
ACTUATION, ENCODER = f"{KERNELS}.actuation", f"{KERNELS}.encoder"
INERTIAL, SENSOR = f"{KERNELS}.inertial_sensor", "twin.plant.inertial_sensor"

BRAKE_TIMES = """(column.ENGAGE_FRACTION, drive.brake_engage_time),
        (column.RELEASE_FRACTION, drive.brake_release_time),"""
EXCHANGED_TIMES = """(column.ENGAGE_FRACTION, drive.brake_release_time),
        (column.RELEASE_FRACTION, drive.brake_engage_time),"""

MOTORS_AND_SCREWS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "armature inertia of 0.8 times the data sheet's",
        Formula(MOTOR, "drive.armature_inertia *", "0.8 * drive.armature_inertia *"),
        "motor inertia at the leg",
    ),
    (
        "rss",
        "armature inertia times the gear ratio, not its square",
        Formula(MOTOR, "drive.armature_inertia * drive.ratio *", "drive.armature_inertia *"),
        "motor inertia at the leg",
    ),
    (
        "stewart",
        "viscous friction of the motor halved",
        Formula(MOTOR, "drive.viscous_torque *", "0.5 * drive.viscous_torque *"),
        "motor effort at constant speeds",
    ),
    (
        "stewart",
        "Coulomb friction of 0.7 times the data sheet's",
        Formula(MOTOR, "drive.friction_torque *", "0.7 * drive.friction_torque *"),
        "motor effort at constant speeds",
    ),
    (
        "driving_simulator",
        "Stribeck friction over the speed, not over its square",
        Formula(
            f"{ACTUATION}.transmit", "exp(-speed_ratio * speed_ratio)", "exp(-abs(speed_ratio))"
        ),
        "motor effort at constant speeds",
    ),
    (
        "stewart",
        "friction halved in the negative direction",
        Formula(f"{ACTUATION}.speed_under_friction", "speed > 0.0 else", "speed > 0.0 else 0.5 *"),
        "motor effort at constant speeds",
    ),
    (
        "srspm",
        "breakaway friction equal to Coulomb friction",
        Formula(
            f"{DRIVES}._fill_drive",
            "reflected_drive.friction * drive.breakaway",
            "reflected_drive.friction",
        ),
        "breakaway effort, brake open",
    ),
    (
        "stewart",
        "backlash of twice its width",
        Formula(
            f"{DRIVES}._fill_drive", "0.5 * reflected_drive.backlash", "reflected_drive.backlash"
        ),
        "width of the hysteresis loop",
    ),
    (
        "srspm",
        "damping of the transmission reversed",
        Formula(
            f"{ACTUATION}.contact",
            "return stiffness * lead + damping",
            "return stiffness * lead - damping",
        ),
        "rate of a leg excited",
    ),
    (
        "compliant_stewart",
        "transmission a tenth softer",
        Formula(
            f"{DRIVES}._fill_drive",
            "= reflected_drive.stiffness",
            "= 0.9 * reflected_drive.stiffness",
        ),
        "force of the transmission",
    ),
    (
        "stewart",
        "upper flank of the backlash pulls",
        Formula(
            f"{ACTUATION}.contact",
            "return max(stiffness * (lead - half_backlash) + damping * lead_rate, 0.0)",
            "return stiffness * (lead - half_backlash) + damping * lead_rate",
        ),
        "force of the transmission",
    ),
    (
        "stewart",
        "leg receives the last force of a step, not the mean",
        Formula(f"{ACTUATION}.transmit", "return force_sum / substeps", "return force"),
        "change of momentum of motor and leg",
    ),
)

BRAKES_AND_LIMITS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "brake torque halved",
        Formula(MOTOR, "drive.brake_torque *", "0.5 * drive.brake_torque *"),
        "breakaway effort, brake closed",
    ),
    (
        "stewart",
        "engage and release times of the brake exchanged",
        Formula(f"{DRIVES}._fill_drive", BRAKE_TIMES, EXCHANGED_TIMES),
        "time to engage the brake",
    ),
    (
        "rss",
        "brake engages at once",
        Formula(f"{ACTUATION}.brake", "state[BRAKE_CLOSURE] == 1.0", "command > 0.0"),
        "time to engage the brake",
    ),
    (
        "stewart",
        "brake releases as soon as it begins to open",
        Formula(
            f"{ACTUATION}.brake",
            "elif state[BRAKE_CLOSURE] == 0.0:\n        state",
            "else:\n        state",
        ),
        "time to release the brake",
    ),
    (
        "stewart",
        "end stops ten times softer",
        Formula(
            f"{DRIVES}._fill_limits", "= row[column.STIFFNESS]", "= 0.1 * row[column.STIFFNESS]"
        ),
        "impact of a leg on its end stops, penetration",
    ),
    (
        "rss",
        "end stops without damping",
        Formula(f"{DRIVES}._fill_limits", "= row[column.DAMPING]", "= 0.0"),
        "impact of a leg on its end stops, rebound speed",
    ),
    (
        "stewart",
        "end stops pull",
        Formula(
            f"{ACTUATION}.end_stop",
            "return max(drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate, 0.0)",
            "return drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate",
        ),
        "impact of a leg on its end stops, contact time",
    ),
    (
        "driving_simulator",
        "end stops at the limit switches",
        Formula(f"{DRIVES}._fill_limits", "low - overtravel, high + overtravel", "low, high"),
        "impact of a leg on its end stops, penetration",
    ),
    (
        "stewart",
        "speed commands not blocked at limit switches",
        Formula(f"{ACTUATION}.gated", "return 0.0", "return command"),
        "motor effort just inside and outside the limit switches",
    ),
    (
        "micro_hexapod",
        "limit switches block both directions",
        Formula(
            f"{ACTUATION}.gated",
            "(at_lower and command < 0.0) or (at_upper and command > 0.0)",
            "at_lower or at_upper",
        ),
        "motor effort just inside and outside the limit switches",
    ),
    (
        "stewart",
        "force commands not blocked at the upper limit switch",
        Formula(
            f"{ACTUATION}.motor_command",
            "effort = min(effort, -gain * speed)",
            "effort = effort + 0.0",
        ),
        "motor effort just inside and outside the limit switches",
    ),
    (
        "stewart",
        "force commands accelerate a motor beyond its speed limit",
        Formula(f"{ACTUATION}.motor_command", "effort, limit = 0.0, AT_SPEED", "limit = AT_SPEED"),
        "motor effort at commands beyond the speed limit",
    ),
    (
        "stewart",
        "commanded speeds not limited",
        Formula(
            f"{ACTUATION}.motor_command",
            "limited(setpoint, -drive[MAX_SPEED], drive[MAX_SPEED])",
            "1.0 * setpoint",
        ),
        "motor effort at commands beyond the speed limit",
    ),
    (
        "stewart",
        "lower limit switch on the leg, not on the motor",
        Formula(
            f"{KERNELS}.actuation.read_actuators",
            "coordinate <= drives[i, LOWER_SWITCH]",
            "coordinates[i] <= drives[i, LOWER_SWITCH]",
        ),
        "limit switches misread",
    ),
    (
        "srspm",
        "upper limit switch pressed below its limit",
        Formula(
            f"{KERNELS}.actuation.read_actuators",
            "coordinate >= drives[i, UPPER_SWITCH]",
            "coordinate <= drives[i, UPPER_SWITCH]",
        ),
        "limit switches misread",
    ),
)

ELECTRONICS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "commanded speeds not quantised",
        Formula(
            f"{DRIVES}._fill_drive",
            "(column.SPEED_RESOLUTION, row[column.MAX_SPEED])",
            "(column.SPEED_RESOLUTION, inf)",
        ),
        "speed command through the converter",
    ),
    (
        "micro_hexapod",
        "commanded forces not quantised",
        Formula(
            f"{DRIVES}._fill_drive",
            "(column.EFFORT_RESOLUTION, row[column.PEAK_EFFORT])",
            "(column.EFFORT_RESOLUTION, inf)",
        ),
        "force command through the converter",
    ),
    (
        "stewart",
        "converter with one bit more",
        Formula(
            f"{DRIVES}._fill_drive",
            "2.0 ** (drive.analogue_bits - 1)",
            "2.0 ** drive.analogue_bits",
        ),
        "force command through the converter",
    ),
    (
        "compliant_stewart",
        "converter codes up to the full range",
        Formula(f"{ACTUATION}.converted", "top - 1.0", "top"),
        "speed command through the converter",
    ),
    (
        "stewart",
        "motor receives the effort at the end of a step, not the mean",
        Formula(f"{DRIVES}._fill_drive", "-expm1(-lags) / lags", "exp(-lags)"),
        "impulse of a motor while its current rises",
    ),
    (
        "rss",
        "commands arrive a step late",
        Formula(
            "twin.plant.plant.Plant.prepare",
            "= round(",
            "= 1 + round(",
        ),
        "effort after a step of the commanded force",
    ),
    (
        "stewart",
        "thermal time constant halved",
        Formula(
            f"{DRIVES}._fill_drive",
            "-step / drive.thermal_time",
            "-2.0 * step / drive.thermal_time",
        ),
        "time until the thermal limit",
    ),
    (
        "stewart",
        "motor heated by positive effort only",
        Formula(
            f"{ACTUATION}.actuate",
            "(state[EFFORT] * state[EFFORT] -",
            "(state[EFFORT] * abs(state[EFFORT]) -",
        ),
        "time until the thermal limit",
    ),
    (
        "stewart",
        "effort of a hot motor not limited",
        Formula(
            f"{ACTUATION}.largest_effort",
            "min(drive[PEAK_EFFORT], drive[CONTINUOUS_EFFORT])",
            "drive[PEAK_EFFORT]",
        ),
        "effort before and after the thermal limit",
    ),
    (
        "stewart",
        "integral of the velocity loop winds up",
        Formula(f"{ACTUATION}.motor_command", "effort == unlimited or", "True or"),
        "effort of a blocked motor after its speed command reverses",
    ),
    (
        "stewart",
        "integral winds up at the negative limit",
        Formula(
            f"{ACTUATION}.motor_command",
            "(unlimited - effort) * error < 0.0",
            "unlimited < effort",
        ),
        "effort of a blocked motor after its speed command reverses",
    ),
    (
        "rss",
        "integral of the velocity loop at half its rate",
        Formula(f"{ACTUATION}.motor_command", "+= integral_gain *", "+= 0.5 * integral_gain *"),
        "effort of a blocked motor's velocity loop",
    ),
    (
        "compliant_stewart",
        "feedforward not quantised",
        Formula(
            f"{ACTUATION}.motor_command",
            "converted(feedforward, drive[PEAK_EFFORT], drive[EFFORT_RESOLUTION])",
            "feedforward",
        ),
        "feedforward command through the converter",
    ),
    (
        "stewart",
        "feedforward of another controller added to the integral",
        Formula(f"{DRIVES}.take_over", "integral -= ", "integral -= 0.0 * "),
        "change of effort where feedforward begins",
    ),
    (
        "rss",
        "feedforward lost where it ends",
        Formula(f"{DRIVES}.follow", "integral += ", "integral += 0.0 * "),
        "change of effort where feedforward begins",
    ),
    (
        "rss",
        "servo without dead band",
        Formula(
            f"{ACTUATION}.positioning_effort",
            "abs(field_lead) - drive[DEAD_BAND]",
            "abs(field_lead)",
        ),
        "servo position held",
    ),
    (
        "rss",
        "servo with half the back-EMF of its motor",
        Formula(
            "twin.machine.hardware.drive._Servo.torque_loss_per_speed",
            "return self.stall_torque",
            "return 0.5 * self.stall_torque",
        ),
        "servo speed under three loads",
    ),
    (
        "rss",
        "servo positions not quantised",
        Formula(f"{ACTUATION}.rounded", "resolution == 0.0", "True"),
        "servo target after a command",
    ),
    (
        "rss",
        "servo pulses at twice their rate",
        Formula(
            "twin.plant.drives.fill_positioning",
            "1.0 / (positioning.update_rate",
            "0.5 / (positioning.update_rate",
        ),
        "time of the pulse with which a servo takes a command",
    ),
    (
        "rss",
        "pull-out torque of the stepper independent of speed",
        Formula(
            f"{ACTUATION}.positioning_effort",
            "max(0.0, 1.0 - abs(speed) / drive[TOP_SPEED])",
            "1.0",
        ),
        "stepper's load angle",
    ),
    (
        "rss",
        "holding torque of the stepper a tenth larger",
        Formula(
            f"{ACTUATION}.positioning_effort",
            "pull_out = peak_effort *",
            "pull_out = 1.1 * peak_effort *",
        ),
        "stepper that loses synchronism",
    ),
)

ENCODERS: tuple[tuple[str, str, Change, str], ...] = (
    (
        "stewart",
        "encoder rounds down, not to the nearest count",
        Formula(
            f"{KERNELS}.actuation.read_actuators",
            "round(coordinate / resolution[i])",
            "(coordinate / resolution[i] // 1.0)",
        ),
        "encoder coordinate against the motor's",
    ),
    (
        "rss",
        "encoder on the leg, not on the motor",
        Formula(
            f"{KERNELS}.actuation.read_actuators",
            "coordinate, speed = states[i, POSITION], states[i, SPEED]",
            "coordinate, speed = coordinates[i], rates[i]",
        ),
        "encoder coordinate against the motor's",
    ),
    (
        "srspm",
        "encoder with one count more per turn",
        Formula(
            "twin.machine.hardware.drive.Encoder.resolution",
            "travel_per_turn / self.counts",
            "travel_per_turn / (self.counts + 1)",
        ),
        "encoder coordinate, distance from a whole count",
    ),
    (
        "stewart",
        "encoder not quantised",
        Formula(
            f"{KERNELS}.actuation.read_actuators",
            "coordinate = resolution[i] * round(coordinate / resolution[i])",
            "coordinate = 1.0 * coordinate",
        ),
        "encoder coordinate, distance from a whole count",
    ),
    (
        "stewart",
        "encoder rate not from the last reading",
        Formula(
            f"{KERNELS}.actuation.read_actuators",
            "last_coordinates[i] = coordinate\n",
            "last_coordinates[i] += 0.0\n",
        ),
        "encoder rate times the sample time",
    ),
    (
        "micro_hexapod",
        "counter half a count ahead",
        Formula(
            f"{ENCODER}.position_of",
            "scales[i, SCALE_RESOLUTION])",
            "scales[i, SCALE_RESOLUTION] + 0.5)",
        ),
        "counter against the travel",
    ),
    (
        "stewart",
        "counter one count ahead",
        Formula(f"{ENCODER}.position_of", "return floor", "return 1.0 + floor"),
        "counter against the travel",
    ),
    (
        "rss",
        "counter runs backwards",
        Formula(
            f"{ENCODER}.position_of",
            "coordinate - scales[i, SCALE_ORIGIN]",
            "scales[i, SCALE_ORIGIN] - coordinate",
        ),
        "counter against the travel",
    ),
    (
        "stewart",
        "index pulse seen on the way up only",
        Formula(
            f"{ENCODER}.zeroed",
            "return pulse_count if pulse_count < old_count else last_pulse",
            "return last_pulse",
        ),
        "counter against the travel",
    ),
)

SENSORS: tuple[tuple[str, Change, str], ...] = (
    (
        "decoder counts the jump at the first index pulse",
        Formula(f"{ENCODER}.homing_step", "return state[DECODER_SPEED]", "return count_change"),
        "coordinates after homing",
    ),
    (
        "index pulse off by one count",
        Formula(
            "twin.plant.encoder.EncoderDecoder.refer",
            "distance_above_pulse = decoder_state[DECODER_RAW] * count_size",
            "distance_above_pulse = (decoder_state[DECODER_RAW] + 1.0) * count_size",
        ),
        "coordinates after homing",
    ),
    (
        "switch errors with the opposite sign",
        Formula(
            "twin.plant.encoder.EncoderDecoder.refer",
            "estimate - coordinate)",
            "coordinate - estimate)",
        ),
        "switch errors found by homing",
    ),
    (
        "no scale factor error",
        Formula(
            f"{SENSOR}.draw_errors",
            "fill_diagonal(error_std, triad.scale_factor)",
            "fill_diagonal(error_std, 0.0)",
        ),
        "accelerometers: standard deviation of scale factor",
    ),
    (
        "no misalignment",
        Formula(f"{SENSOR}.draw_errors", "np.full((3, 3), triad.misalignment)", "np.zeros((3, 3))"),
        "gyroscopes: standard deviation of misalignment",
    ),
    (
        "no sensitivity of the gyroscopes to specific force",
        Formula(
            f"{SENSOR}.draw_errors", "gyroscopes.acceleration_sensitivity / STANDARD_GRAVITY", "0.0"
        ),
        "gyroscopes: standard deviation of acceleration sensitivity",
    ),
    (
        "bias of a tenth",
        Formula(
            f"{SENSOR}.draw_errors", "bias[axes] = triad.bias", "bias[axes] = 0.1 * triad.bias"
        ),
        "accelerometers: standard deviation of bias",
    ),
    (
        "the same bias on three axes",
        Formula(
            f"{SENSOR}.draw_errors",
            "triad.bias * random.standard_normal(3)",
            "triad.bias * random.standard_normal()",
        ),
        "largest correlation of two errors",
    ),
    (
        "scale factor errors never negative",
        Formula(
            f"{SENSOR}.draw_errors",
            "draws = random.standard_normal((3, 3))",
            "draws = abs(random.standard_normal((3, 3)))",
        ),
        "largest mean error",
    ),
    (
        "bias instability halved",
        Formula(
            f"{SENSOR}.draw_errors",
            "[triad.instability",
            "[0.5 * triad.instability",
        ),
        "gyroscopes: standard deviation of the bias instability",
    ),
    (
        "correlation time of the bias instability halved",
        Formula(
            f"{SENSOR}.draw_errors",
            "[1.0 / triad.correlation_time",
            "[2.0 / triad.correlation_time",
        ),
        "gyroscopes: autocorrelation of the bias instability",
    ),
    (
        "readings not clipped at the ranges",
        Formula(
            f"{INERTIAL}.latch",
            "max(-model[i, RANGE], min(model[i, RANGE], value))",
            "value",
        ),
        "readings beyond the ranges",
    ),
    (
        "ranges a fifth too small",
        Formula(f"{SENSOR}.draw_errors", "else triad.range", "else 0.8 * triad.range"),
        "readings at 90 percent of the ranges",
    ),
    (
        "output rate halved",
        Formula(
            f"{SENSOR}.InertialUnit.__init__",
            "1.0 / parameters.output_rate",
            "2.0 / parameters.output_rate",
        ),
        "sample times",
    ),
    (
        "damping ratio of the filter halved",
        Formula(
            f"{SENSOR}.InertialUnit.__init__",
            "= parameters.damping_ratio",
            "= 0.5 * parameters.damping_ratio",
        ),
        "gain of the filter at 75 Hz",
    ),
    (
        "filter half a step late where accelerations are given",
        Formula(
            f"{INERTIAL}.fill_sampled_mean",
            "0.5 * (states[TRUE_INPUT + i] + present[i])",
            "1.0 * states[TRUE_INPUT + i]",
        ),
        "phase of the filter at 75 Hz",
    ),
    (
        "bandwidth taken in rad/s: a unit",
        Formula(f"{SENSOR}.InertialUnit.__init__", "2.0 * pi * (parameters", "(parameters"),
        "phase of the filter at 75 Hz",
    ),
    (
        "noise not correlated by the filter",
        Formula(
            f"{INERTIAL}.noise_factor",
            "a, b, c, d = step",
            "a, b, c, d = 0.0, 0.0, 0.0, 0.0",
        ),
        "autocorrelation of the noise",
    ),
    (
        "centripetal acceleration outwards",
        Formula(
            f"{INERTIAL}.fill_instant",
            "cross(rate, cross(rate, arm))",
            "cross(cross(rate, arm), rate)",
        ),
        "specific force off the reference point",
    ),
    (
        "angular rate in platform axes, not in the sensor's",
        Formula(
            f"{INERTIAL}.fill_instant",
            "in_sensor(settings, platform_rotation, rate)",
            "rotate_back(platform_rotation, rate)",
        ),
        "angular rate of a tilted sensor",
    ),
    (
        "mean angular rate partly in platform axes",
        Formula(
            f"{INERTIAL}.fill_mean",
            "in_sensor(settings, rotation_before, rate_before)",
            "rotate_back(rotation_before, rate_before)",
        ),
        "readings off the axis of a turntable",
    ),
    (
        "sensor's yaw, pitch and roll about fixed axes",
        Formula(f"{SENSOR}.InertialUnit.__init__", 'from_euler("ZYX"', 'from_euler("zyx"'),
        "specific force off the reference point",
    ),
    (
        "mean acceleration in the axes at the end of a step",
        Formula(
            f"{INERTIAL}.fill_mean",
            "in_sensor(settings, mean_rotation, mean)",
            "in_sensor(settings, rotation_after, mean)",
        ),
        "readings off the axis of a turntable",
    ),
)

ESTIMATES: tuple[tuple[str, Change, str], ...] = (
    (
        "gravity of 0.9997 times the file's",
        Formula(
            "twin.identification.parameters.gravity_field",
            "platform.parameters.gravity)",
            "0.9997 * platform.parameters.gravity)",
        ),
        "mass: relative error",
    ),
    (
        "standard errors of a tenth",
        Formula(
            "twin.identification.result.statistics.covariance",
            "0.5 * (sandwich + sandwich.T)",
            "0.005 * (sandwich + sandwich.T)",
        ),
        "largest error over half of its 95 % interval",
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
    *(
        Mutation("stewart", "both", text, change, "identification", measure)
        for text, change, measure in ESTIMATES
    ),
)
"""Faults of hardware, which reference and engines share."""
