/* Which bucket a latency falls in (thesis eq. 3.4).
 *
 * For more than one bucket per power of two, floor(r * log2 x) is decided without rounding: x is shifted until its top
 * bit is set and compared with 2^63 * 2^(k/8), rounded up to whole numbers. The borders are irrational, so for whole x
 * "at least the border" and "at least the border rounded up" are the same. */
#include "aggstats.h"

#define EIGHTHS 8U

/* ceil(2^(63 + k/8)) for k = 1..7. */
static const uint64_t eighth_borders[EIGHTHS - 1] = {
    0x8b95c1e3ea8bd6e7, 0x9837f0518db8a970, 0xa5fed6a9b15138eb, 0xb504f333f9de6485,
    0xc5672a115506dade, 0xd744fccad69d6af5, 0xeac0c6e7dd24392f,
};

bool aggstats_resolution_valid(unsigned resolution) {
    return resolution == 1 || resolution == 2 || resolution == 4 || resolution == 8;
}

unsigned aggstats_bucket_fine(uint64_t latency_cycles, unsigned resolution) {
    uint64_t latency = latency_cycles + (latency_cycles == 0); /* 0 counts as 1 */
    unsigned leading_zeros = (unsigned)__builtin_clzll(latency);
    uint64_t mantissa = latency << leading_zeros;

    unsigned eighth = mantissa >= eighth_borders[3] ? 4 : 0; /* three steps find one of eight, without a loop */
    eighth += mantissa >= eighth_borders[eighth + 1] ? 2 : 0;
    eighth += mantissa >= eighth_borders[eighth] ? 1 : 0;
    return ((63 - leading_zeros) * EIGHTHS + eighth) * resolution / EIGHTHS;
}

unsigned aggstats_bucket_of(uint64_t latency_cycles, unsigned resolution) {
    if (resolution == 1)
        return 63U - (unsigned)__builtin_clzll(latency_cycles | 1);
    return aggstats_bucket_fine(latency_cycles, resolution);
}
