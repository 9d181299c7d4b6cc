/* Kinematics of the machine @title@; see @name@_kinematics.h.
 *
 * Written by platform-twin @version@ for the parameters @hash@.
 */
#include "@name@_kinematics.h"

#include <math.h>

typedef @name@_real real;

#define N @NAME@_LEGS

/* Coordinates, and below them the distances of the tips from the planes of their legs. */
#define ROWS @rows@

/* Distance of a tip from its plane that counts as rounding. */
#define PLANE_TOLERANCE @plane@

/* Residuals, in parts of the largest coordinate, at which a search has converged, and at which it
 * may end where rounding errors stop it. */
#define CONVERGED_RESIDUAL @converged@
#define ACCEPTED_RESIDUAL @accepted@

/* A Newton step turns the platform by no more than this. */
#define MAX_TURN @half@

#define MAX_ITERATIONS 25
#define MAX_HALVINGS 8

const @name@_leg @name@_legs[N] = {
@legs@
};

const @name@_pose @name@_home = {@home@};

static real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const real a[3], const real b[3], real result[3])
{
    result[0] = a[1] * b[2] - a[2] * b[1];
    result[1] = a[2] * b[0] - a[0] * b[2];
    result[2] = a[0] * b[1] - a[1] * b[0];
}

/* The rotation matrix of a unit quaternion. */
static void rotation(const real q[4], real matrix[3][3])
{
    const real w = q[0], x = q[1], y = q[2], z = q[3];
    matrix[0][0] = 1 - 2 * (y * y + z * z);
    matrix[0][1] = 2 * (x * y - w * z);
    matrix[0][2] = 2 * (x * z + w * y);
    matrix[1][0] = 2 * (x * y + w * z);
    matrix[1][1] = 1 - 2 * (x * x + z * z);
    matrix[1][2] = 2 * (y * z - w * x);
    matrix[2][0] = 2 * (x * z - w * y);
    matrix[2][1] = 2 * (y * z + w * x);
    matrix[2][2] = 1 - 2 * (x * x + y * y);
}

/* The arm from the reference point to the platform joint, and the vector from the base joint to
 * the platform joint, both in the base frame. */
static void joints(const @name@_leg *leg, const @name@_pose *pose, real matrix[3][3], real arm[3],
                   real vector[3])
{
    int k;
    for (k = 0; k < 3; k++) {
        arm[k] = dot(matrix[k], leg->platform_joint);
        vector[k] = pose->position[k] + arm[k] - leg->base_joint[k];
    }
}

@leg_function@

/* Computes coordinates and Jacobian; returns 0, or the first leg that cannot reach the pose. */
static int evaluate(const @name@_leg legs[N], const @name@_pose *pose, real coordinates[ROWS],
                    real jacobian[ROWS][6])
{
    real matrix[3][3], arm[3], vector[3], moment[3];
    int i, k, failed = 0;
    rotation(pose->quaternion, matrix);
    for (i = 0; i < N; i++) {
        joints(&legs[i], pose, matrix, arm, vector);
        if (!actuation(&legs[i], vector, &coordinates[i], jacobian[i]) && !failed)
            failed = i + 1;
        cross(arm, jacobian[i], moment);
        for (k = 0; k < 3; k++)
            jacobian[i][3 + k] = moment[k];@more_rows@
    }
    return failed;
}

/* As evaluate does, and returns minus the first leg whose tip is off its plane. */
static int checked(const @name@_leg legs[N], const @name@_pose *pose, real coordinates[ROWS],
                   real jacobian[ROWS][6])
{
    int i, failed = evaluate(legs, pose, coordinates, jacobian);
    for (i = N; i < ROWS && !failed; i++)
        if (!(@fabs@(coordinates[i]) <= PLANE_TOLERANCE))
            failed = N - i - 1;
    return failed;
}

/* Solves matrix * x = right by elimination with row pivoting; right becomes x. Returns the sign of
 * the determinant, 0 for a singular matrix. */
static int solve(real matrix[6][6], real right[6])
{
    int i, j, k, pivot, sign = 1;
    for (j = 0; j < 6; j++) {
        pivot = j;
        for (i = j + 1; i < 6; i++)
            if (@fabs@(matrix[i][j]) > @fabs@(matrix[pivot][j]))
                pivot = i;
        if (!(@fabs@(matrix[pivot][j]) > 0))
            return 0;
        if (pivot != j) {
            real exchanged = right[j];
            right[j] = right[pivot];
            right[pivot] = exchanged;
            for (k = j; k < 6; k++) {
                exchanged = matrix[j][k];
                matrix[j][k] = matrix[pivot][k];
                matrix[pivot][k] = exchanged;
            }
            sign = -sign;
        }
        if (matrix[j][j] < 0)
            sign = -sign;
        for (i = j + 1; i < 6; i++) {
            const real factor = matrix[i][j] / matrix[j][j];
            for (k = j + 1; k < 6; k++)
                matrix[i][k] -= factor * matrix[j][k];
            right[i] -= factor * right[j];
        }
    }
    for (i = 5; i >= 0; i--) {
        for (k = i + 1; k < 6; k++)
            right[i] -= matrix[i][k] * right[k];
        right[i] /= matrix[i][i];
    }
    return sign;
}

/* The Newton step of the pose for residuals of the coordinates, by least squares where there are
 * more than six; returns as solve does. */
static int newton_step(real jacobian[ROWS][6], const real residuals[ROWS], real step[6])
{
    real system[6][6];
    int i, j, k;
    for (i = 0; i < 6; i++) {
        step[i] = ROWS == 6 ? residuals[i] : 0;
        for (j = 0; j < 6; j++)
            system[i][j] = ROWS == 6 ? jacobian[i][j] : 0;
        for (k = 0; ROWS != 6 && k < ROWS; k++) {
            step[i] += jacobian[k][i] * residuals[k];
            for (j = 0; j < 6; j++)
                system[i][j] += jacobian[k][i] * jacobian[k][j];
        }
    }
    return solve(system, step);
}

/* The pose moved by a part of a step: translation and rotation vector in the base frame. */
static @name@_pose moved(const @name@_pose *pose, const real step[6], real part)
{
    const real *q = pose->quaternion;
    @name@_pose result;
    real turn[3], angle, half_cosine, factor, norm;
    int k;
    for (k = 0; k < 3; k++) {
        result.position[k] = pose->position[k] + part * step[k];
        turn[k] = part * step[3 + k];
    }
    angle = @sqrt@(dot(turn, turn));
    half_cosine = @cos@(angle / 2);
    factor = angle > @tiny@ ? @sin@(angle / 2) / angle : @half@;
    for (k = 0; k < 3; k++)
        turn[k] *= factor;
    result.quaternion[0] = half_cosine * q[0] - turn[0] * q[1] - turn[1] * q[2] - turn[2] * q[3];
    result.quaternion[1] = half_cosine * q[1] + turn[0] * q[0] + turn[1] * q[3] - turn[2] * q[2];
    result.quaternion[2] = half_cosine * q[2] - turn[0] * q[3] + turn[1] * q[0] + turn[2] * q[1];
    result.quaternion[3] = half_cosine * q[3] + turn[0] * q[2] - turn[1] * q[1] + turn[2] * q[0];
    norm = 0;
    for (k = 0; k < 4; k++)
        norm += result.quaternion[k] * result.quaternion[k];
    norm = @sqrt@(norm);
    for (k = 0; k < 4; k++)
        result.quaternion[k] /= norm;
    return result;
}

/* Fills residuals and Jacobian of a pose; returns the largest residual, or a negative number where
 * a leg cannot reach the pose. */
static real residual(const @name@_leg legs[N], const @name@_pose *pose, const real coordinates[N],
                     real residuals[ROWS], real jacobian[ROWS][6])
{
    real reached[ROWS], largest = 0;
    int i;
    if (evaluate(legs, pose, reached, jacobian))
        return -1;
    for (i = 0; i < ROWS; i++) {
        residuals[i] = (i < N ? coordinates[i] : 0) - reached[i];
        /* Written so that a coordinate that is not a number makes the result none either. */
        if (!(@fabs@(residuals[i]) <= largest))
            largest = @fabs@(residuals[i]);
    }
    return largest;
}

@name@_search @name@_forward_kinematics(const @name@_leg legs[N], const real coordinates[N],
                                        @name@_pose *pose)
{
    @name@_search search = {0, 0, 0};
    real residuals[ROWS], jacobian[ROWS][6], step[6], trial_residual, size = @smallest_scale@;
    int i, branch = 0;
    for (i = 0; i < N; i++)
        if (@fabs@(coordinates[i]) > size)
            size = @fabs@(coordinates[i]);
    search.residual = residual(legs, pose, coordinates, residuals, jacobian);
    if (search.residual < 0)
        return search;
    while (search.iterations < MAX_ITERATIONS) {
        @name@_pose trial;
        real turn, part = 1;
        int sign, halvings;
        if (search.residual <= CONVERGED_RESIDUAL * size) {
            search.converged = 1;
            return search;
        }
        sign = newton_step(jacobian, residuals, step);
        if (branch == 0)
            branch = sign;
        /* A pose where the determinant changes its sign lies between two assembly branches. */
        if (sign == 0 || sign != branch)
            return search;
        turn = @sqrt@(dot(&step[3], &step[3]));
        if (turn > MAX_TURN)
            part = MAX_TURN / turn;
        for (halvings = 0; halvings < MAX_HALVINGS; halvings++) {
            trial = moved(pose, step, part);
            trial_residual = residual(legs, &trial, coordinates, residuals, jacobian);
            if (trial_residual >= 0 && trial_residual < search.residual)
                break;
            if (search.residual <= ACCEPTED_RESIDUAL * size) {
                search.converged = 1;
                return search;
            }
            part /= 2;
        }
        if (halvings == MAX_HALVINGS)
            return search;
        *pose = trial;
        search.residual = trial_residual;
        search.iterations++;
    }
    search.converged = search.residual <= ACCEPTED_RESIDUAL * size;
    return search;
}

int @name@_inverse_kinematics(const @name@_leg legs[N], const @name@_pose *pose,
                              real coordinates[N])
{
    real reached[ROWS], jacobian[ROWS][6];
    int i, failed = checked(legs, pose, reached, jacobian);
    for (i = 0; i < N; i++)
        coordinates[i] = reached[i];
    return failed;
}

int @name@_jacobian(const @name@_leg legs[N], const @name@_pose *pose, real jacobian[N][6])
{
    real coordinates[ROWS], rows[ROWS][6];
    int i, k, failed = checked(legs, pose, coordinates, rows);
    for (i = 0; i < N; i++)
        for (k = 0; k < 6; k++)
            jacobian[i][k] = rows[i][k];
    return failed;
}

int @name@_outside_limits(const @name@_leg legs[N], const real coordinates[N])
{
    int i;
    for (i = 0; i < N; i++)
        if (!(coordinates[i] >= legs[i].minimum && coordinates[i] <= legs[i].maximum))
            return i + 1;
    return 0;
}

void @name@_set_pose(@name@_pose *pose, const real position[3], real yaw, real pitch, real roll)
{
    const real cy = @cos@(yaw / 2), sy = @sin@(yaw / 2);
    const real cp = @cos@(pitch / 2), sp = @sin@(pitch / 2);
    const real cr = @cos@(roll / 2), sr = @sin@(roll / 2);
    int k;
    for (k = 0; k < 3; k++)
        pose->position[k] = position[k];
    pose->quaternion[0] = cy * cp * cr + sy * sp * sr;
    pose->quaternion[1] = cy * cp * sr - sy * sp * cr;
    pose->quaternion[2] = cy * sp * cr + sy * cp * sr;
    pose->quaternion[3] = sy * cp * cr - cy * sp * sr;
}@plane_function@
