/* A platform on six hobby servos: from a wanted pose to pulses, once every 20 ms.
 *
 * Export the kinematics of your machine next to this file, in single precision for a small
 * controller, and put its name in place of rss:
 *
 *     twin export rss --format c --precision float --out .
 *
 * Then write read_request and write_pulse for your board. With the Servo library of Arduino,
 * write_pulse calls servo[leg].writeMicroseconds(pulse). The framework calls setup once and then
 * loop again and again.
 */
#include "rss_kinematics.h"

/* A request: position from home [m], angles [rad]. Returns 0 if there is no new one. */
extern int read_request(rss_real position[3], rss_real angles[3]);

/* Sets the pulse of a servo [us]. */
extern void write_pulse(int leg, rss_real pulse);

/* Called with the number of the leg, from 1, that cannot follow a request. */
extern void report_leg(int leg);

/* Waits for the next period of 20 ms. */
extern void wait_for_period(void);

/* Pulse at crank angle 0 [us], measured with each horn in place, and pulse per angle [us/rad]: a
 * usual servo turns by 90 degrees within 1,000 us. Servos that are mounted mirrored turn the other
 * way, with a negative gain. */
static const rss_real zero_pulse[RSS_LEGS] = {1500, 1500, 1500, 1500, 1500, 1500};
static const rss_real pulse_per_angle[RSS_LEGS] = {637, -637, 637, -637, 637, -637};

/* Largest change of a crank angle within a period [rad], 3 rad/s. */
static const rss_real largest_step = (rss_real)0.06;

static rss_real angle[RSS_LEGS];  /* where the servos are sent */
static rss_real target[RSS_LEGS]; /* of the last request that can be reached */

void setup(void)
{
    int i;
    rss_inverse_kinematics(rss_legs, &rss_home, target);
    for (i = 0; i < RSS_LEGS; i++)
        angle[i] = target[i];
}

void loop(void)
{
    rss_real position[3], angles[3], wanted[RSS_LEGS];
    rss_pose pose;
    int i, leg;
    wait_for_period();
    if (read_request(position, angles)) {
        for (i = 0; i < 3; i++)
            position[i] += rss_home.position[i];
        rss_set_pose(&pose, position, angles[0], angles[1], angles[2]);
        leg = rss_inverse_kinematics(rss_legs, &pose, wanted);
        if (!leg)
            leg = rss_outside_limits(rss_legs, wanted);
        if (leg)
            report_leg(leg);
        for (i = 0; !leg && i < RSS_LEGS; i++)
            target[i] = wanted[i];
    }
    for (i = 0; i < RSS_LEGS; i++) {
        rss_real step = target[i] - angle[i];
        if (step > largest_step)
            step = largest_step;
        if (step < -largest_step)
            step = -largest_step;
        angle[i] += step;
        write_pulse(i, zero_pulse[i] + pulse_per_angle[i] * angle[i]);
    }
}
