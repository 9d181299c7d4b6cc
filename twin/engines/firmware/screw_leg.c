
#define PI @pi@

/* Adds to length and row of the Jacobian what the twist of the rod takes from the motor. */
static void add_screw(const @name@_leg *leg, real matrix[3][3], const real arm[3],
                      real *coordinate, real row[6])
{
    const real length = *coordinate, *along = row;
    real axis[3], side[3], change[3], moment[3], sine, cosine, twist, base_sine, factor;
    int k;
    for (k = 0; k < 3; k++)
        axis[k] = dot(matrix[k], leg->platform_axis);
    sine = dot(axis, along);
    base_sine = dot(leg->base_axis, along);
    cross(leg->base_axis, axis, side);
    cosine = dot(leg->base_axis, axis) - base_sine * sine;
    twist = @atan2@(dot(along, side), cosine) - leg->home_twist;
    twist -= 2 * PI * @floor@(twist / (2 * PI) + @half@);
    *coordinate += leg->screw * twist;
    factor = leg->screw / (1 - sine * sine);
    cross(axis, along, side);
    for (k = 0; k < 3; k++) {
        change[k] = factor * sine * side[k] / length;
        row[3 + k] += factor * (along[k] - sine * axis[k]);
    }
    factor = leg->screw * base_sine / (1 - base_sine * base_sine) / length;
    cross(leg->base_axis, along, side);
    for (k = 0; k < 3; k++)
        change[k] -= factor * side[k];
    cross(arm, change, moment);
    for (k = 0; k < 3; k++) {
        row[k] += change[k];
        row[3 + k] += moment[k];
    }
}
