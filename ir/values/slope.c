// Slopes of curves by differences.
#include <math.h>

#include "ir/values/values.h"

// Takes differences with two step sizes. If the curve is smooth, both give the same slope, and the
// slopes to the left and to the right differ less for the smaller step. Otherwise there is a kink,
// which smaller steps may avoid.
bool curve_slope(const Curve *c, double here, double *slope)
{
    enum { TRIES = 3 };
    bool is_smooth = false;
    double h = 3e-5;

    for (int i = 0; i < TRIES && !is_smooth; i++, h /= 16) {
        double is[2], bend[2], noise = 1e-15 * (1 + fabs(here)) / h;
        for (int k = 0; k < 2; k++) {
            double step = k ? h / 4 : h;
            double right = c->at(c->context, step);
            double left = c->at(c->context, -step);
            is[k] = (right - left) / (2 * step);
            bend[k] = fabs(right - 2 * here + left) / step;
        }
        double small = 2e-6 * fabs(is[0]) + 1e-8 + 16 * noise;
        is_smooth =
            isfinite(small) && fabs(is[0] - is[1]) <= small && bend[1] <= fmax(bend[0] / 2, small);
        *slope = is[1];
    }
    return is_smooth;
}
