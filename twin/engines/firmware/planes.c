int @name@_onto_planes(const @name@_leg legs[N], @name@_pose *pose)
{
    int iterations, i, k;
    for (iterations = 0;; iterations++) {
        real matrix[3][3], arm[3], vector[3], system[6][6] = {{0}}, step[6] = {0}, largest = 0, turn;
        int farthest = 1;
        rotation(pose->quaternion, matrix);
        for (i = 0; i < N; i++) {
            joints(&legs[i], pose, matrix, arm, vector);
            step[i] = -dot(vector, legs[i].axis);
            cross(arm, legs[i].axis, &system[i][3]);
            for (k = 0; k < 3; k++) {
                system[i][k] = legs[i].axis[k];
                /* The turn is about the normal: it has no part along the platform's x and y. */
                system[4][3 + k] = matrix[k][0];
                system[5][3 + k] = matrix[k][1];
            }
            if (!(@fabs@(step[i]) <= largest)) {
                largest = @fabs@(step[i]);
                farthest = i + 1;
            }
        }
        system[3][2] = 1;
        if (largest <= CONVERGED_RESIDUAL)
            return 0;
        if (iterations == MAX_ITERATIONS || !solve(system, step))
            return largest <= PLANE_TOLERANCE ? 0 : farthest;
        turn = @sqrt@(dot(&step[3], &step[3]));
        *pose = moved(pose, step, turn > MAX_TURN ? MAX_TURN / turn : 1);
    }
}
