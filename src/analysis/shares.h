/* Private: shares of calls, as values that add up. */
#ifndef SHARES_H
#define SHARES_H

#include <math.h>
#include <stdint.h>

#define SHARES_HALF_CALL 0.5 /* added to parts of the calls, so that they have a logarithm */

/* The logit of a share: of those inside to those outside. */
static inline double share_logit(uint64_t inside, uint64_t calls) {
    return log(((double)inside + SHARES_HALF_CALL) / ((double)(calls - inside) + SHARES_HALF_CALL));
}

/* Variance of the logit of a share of so many calls, if they were independent: runs that agree better do so by chance.
 */
static inline double share_variance(double share, double calls) {
    double inside = share * calls + SHARES_HALF_CALL;
    double outside = (1 - share) * calls + SHARES_HALF_CALL;
    return 1 / inside + 1 / outside;
}

#endif
