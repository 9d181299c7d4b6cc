/* Computes the length of a leg and the direction along which it acts on the platform. */
static int actuation(const @name@_leg *leg, const real vector[3], real *length, real direction[3])
{
    int k;
    (void)leg;
    *length = @sqrt@(dot(vector, vector));
    for (k = 0; k < 3; k++)
        direction[k] = vector[k] / *length;
    return *length > 0;
}
