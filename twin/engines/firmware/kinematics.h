/* Kinematics of the machine @title@.
 *
 * Written by platform-twin @version@ for the parameters @hash@.
 *
 * Lengths are in metres, angles in radians. The base frame is fixed to the ground, its z axis
 * points up. A pose is the position of the platform's reference point in the base frame, and the
 * rotation from the platform's axes to those of the base as a unit quaternion, scalar first.
 *
 * The functions allocate nothing, keep no state and use sqrt, sin, cos, fabs@more_functions@ of the
 * C library alone: they may run in an interrupt.
 */
#ifndef @NAME@_KINEMATICS_H
#define @NAME@_KINEMATICS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef @real@ @name@_real;

/* Number of legs; leg numbers in results count from 1. */
#define @NAME@_LEGS @count@

typedef struct {
    @name@_real position[3];
    @name@_real quaternion[4];
} @name@_pose;

/* The constants of one leg. Another table of them is another machine of the same kind: a machine
 * that has been calibrated changes this table and nothing else. */
typedef struct {
    @name@_real base_joint[3];     /* in the base frame */
    @name@_real platform_joint[3]; /* in the platform's frame */
@leg_fields@
    @name@_real minimum; /* @coordinate@ at the lower limit */
    @name@_real maximum; /* @coordinate@ at the upper limit */
} @name@_leg;

/* The machine as it was exported, and its home pose. */
extern const @name@_leg @name@_legs[@NAME@_LEGS];
extern const @name@_pose @name@_home;

/* Result of a search for a pose. */
typedef struct {
    int converged;         /* 1 if the pose has the coordinates that were given, else 0 */
    int iterations;        /* Newton steps taken */
    @name@_real residual; /* largest difference of a coordinate */
} @name@_search;

/* Sets a pose from a position and angles: the platform is turned by yaw about its z axis, then by
 * pitch about its new y axis, then by roll about its new x axis. */
void @name@_set_pose(@name@_pose *pose, const @name@_real position[3], @name@_real yaw,
                     @name@_real pitch, @name@_real roll);

/* Computes the @coordinate@s of a pose. Returns 0, or the first leg that cannot reach the pose@off@;
 * then the coordinates are not to be used. Limits are not checked. */
int @name@_inverse_kinematics(const @name@_leg legs[@NAME@_LEGS], const @name@_pose *pose,
                              @name@_real coordinates[@NAME@_LEGS]);

/* Returns 0, or the first leg whose coordinate is outside its limits. */
int @name@_outside_limits(const @name@_leg legs[@NAME@_LEGS],
                          const @name@_real coordinates[@NAME@_LEGS]);

/* Computes the Jacobian: the rates of the coordinates are jacobian times the velocity of the
 * reference point and the angular velocity, both in the base frame. Forces at the actuators that
 * carry a wrench follow from its transpose. Returns as the inverse kinematics does. */
int @name@_jacobian(const @name@_leg legs[@NAME@_LEGS], const @name@_pose *pose,
                    @name@_real jacobian[@NAME@_LEGS][6]);

@plane_declaration@/* Finds the pose of coordinates by Newton's method, beginning at the pose given: that of the last
 * control period. The pose becomes the one found. Where the search does not converge, the pose is
 * the last one that it reached. */
@name@_search @name@_forward_kinematics(const @name@_leg legs[@NAME@_LEGS],
                                        const @name@_real coordinates[@NAME@_LEGS],
                                        @name@_pose *pose);

#ifdef __cplusplus
}
#endif

#endif
