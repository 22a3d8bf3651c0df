/* Viridis. */
#include "plot_colours.h"

#include "base.h"

/* At every eighth of its length. */
static const unsigned viridis[] = {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
                                   0x28ae80, 0x5ec962, 0xaddc30, 0xfde725};

void plot_colours_put(FILE *script) {
    fputs("set palette defined (", script);
    for (size_t i = 0; i < ARRAY_SIZE(viridis); i++)
        fprintf(script, "%s%zu '#%06x'", i > 0 ? ", " : "", i, viridis[i]);
    fputs(")\n", script);
}

static unsigned mix(unsigned a, unsigned b, double part, unsigned shift) {
    double from = (a >> shift) & 0xff;
    double to = (b >> shift) & 0xff;
    return (unsigned)(from + (to - from) * part + 0.5) << shift;
}

unsigned plot_colours_at(double part) {
    const size_t last = ARRAY_SIZE(viridis) - 1;
    if (!(part > 0))
        return viridis[0];
    if (part >= 1)
        return viridis[last];
    size_t step = (size_t)(part * (double)last);
    double rest = part * (double)last - (double)step;
    const unsigned a = viridis[step];
    const unsigned b = viridis[step + 1];
    return mix(a, b, rest, 16) | mix(a, b, rest, 8) | mix(a, b, rest, 0);
}
