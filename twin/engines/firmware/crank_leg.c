#define PI @pi@

/* Computes the angle of a crank, and the change of the angle per displacement of the platform
 * joint. Returns 0 where crank and rod cannot reach the joint, or are in line. */
static int actuation(const @name@_leg *leg, const real vector[3], real *angle, real direction[3])
{
    const real crank = leg->crank_length, rod = leg->rod_length;
    real side[3], toward[3], turning[3], a, b, c, square, root, cosine, sine, gain;
    int k;
    /* The rod's length gives a cos(angle) + b sin(angle) = c. */
    cross(leg->axis, leg->zero_direction, side);
    a = dot(vector, leg->zero_direction);
    b = dot(vector, side);
    c = (dot(vector, vector) + crank * crank - rod * rod) / (2 * crank);
    square = a * a + b * b;
    root = square - c * c;
    if (!(root >= 0))
        return 0;
    root = leg->branch * @sqrt@(root);
    cosine = (a * c - b * root) / square;
    sine = (b * c + a * root) / square;
    *angle = @atan2@(sine, cosine);
    /* Of angles that differ by whole turns, the one nearest to the middle of the range. */
    *angle -= 2 * PI * @floor@((*angle - leg->middle_angle) / (2 * PI) + @half@);
    for (k = 0; k < 3; k++)
        toward[k] = cosine * leg->zero_direction[k] + sine * side[k];
    cross(leg->axis, toward, turning);
    gain = 0;
    for (k = 0; k < 3; k++) {
        direction[k] = (vector[k] - crank * toward[k]) / rod;
        gain += crank * direction[k] * turning[k];
    }
    for (k = 0; k < 3; k++)
        direction[k] /= gain;
    return @fabs@(gain) > 0;
}
