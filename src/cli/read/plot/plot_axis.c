/* Logarithmic axes of figures. */
#include "plot_axis.h"

#include <math.h>

#include "base.h"
#include "gnuplot.h"

struct plot_axis plot_axis_over(double low, double high, enum plot_unit unit) {
    struct plot_axis axis = {.low = low / 1.1, .high = high * 1.1, .unit = unit};
    if (floor(log10(axis.high)) - ceil(log10(axis.low)) < 1) {
        axis.low = pow(10, floor(log10(axis.low)));
        axis.high = pow(10, ceil(log10(axis.high)));
    }
    return axis;
}

struct plot_axis plot_axis_of_colours(double least, double most, enum plot_unit unit) {
    struct plot_axis axis = {.low = least, .high = most, .unit = unit};
    if (floor(log10(most)) - ceil(log10(least)) < 1) {
        axis.low = pow(10, floor(log10(least)));
        axis.high = axis.low * 10 < most ? axis.low * 100 : axis.low * 10;
    }
    return axis;
}

struct plot_axis plot_axis_of_bars(double least, double high, enum plot_unit unit) {
    const double headroom = 1.6;
    struct plot_axis axis = {.low = least / 2, .high = high * headroom, .unit = unit};
    if (axis.high < 20 * axis.low)
        axis.high = 24 * axis.low;
    return axis;
}

void plot_axis_leave_room(struct plot_axis *axis, double most, int pixels, int length_pixels) {
    double part = 1 - (double)pixels / length_pixels;
    axis->high = fmax(axis->high, axis->low * pow(most / axis->low, 1 / part));
}

double plot_axis_at(const struct plot_axis *axis, double value) {
    return axis->as_decades ? log10(value / axis->low) : value;
}

void plot_axis_format_power(const struct plot_axis *axis, int exponent, char ret_text[UNITS_TEXT_SIZE]) {
    const struct units units = {.frequency_hz = 1};
    if (axis->unit == PLOT_SECONDS)
        units_format_power_seconds(&units, exponent, ret_text);
    else if (exponent >= 0 && exponent <= 20)
        units_format_power_count(exponent, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "1e%d", exponent);
}

struct plot_marks plot_axis_marks(const struct plot_axis *axis) {
    struct plot_marks marks = {(int)ceil(log10(axis->low)), (int)floor(log10(axis->high)), 1};
    if (axis->labels_max > 0)
        marks.step = (marks.last - marks.first) / (int)axis->labels_max + 1;
    return marks;
}

void plot_axis_put(const struct plot_axis *axis, const char *name, FILE *script) {
    const struct plot_marks marks = plot_axis_marks(axis);
    if (!axis->as_decades)
        fprintf(script, "set logscale %s\n", name);
    fprintf(script, "set %srange [%.9g:%.9g]\nset %stics (", name, plot_axis_at(axis, axis->low),
            plot_axis_at(axis, axis->high), name);
    for (int exponent = marks.first; exponent <= marks.last; exponent++) {
        char text[UNITS_TEXT_SIZE] = "";
        if (axis->labels_max > 0 && (exponent - marks.first) % marks.step == 0)
            plot_axis_format_power(axis, exponent, text);
        fputs(exponent > marks.first ? ", " : "", script);
        gnuplot_put_text(script, text, UNITS_TEXT_SIZE);
        fprintf(script, " %.9g", plot_axis_at(axis, pow(10, exponent)));
    }
    /* Minor marks between one power and the next. */
    for (int exponent = marks.first - 1; exponent <= marks.last && marks.step == 1 && axis->labels_max > 0; exponent++)
        for (int digit = 2; digit <= 9; digit++) {
            double value = digit * pow(10, exponent);
            if (value >= axis->low && value <= axis->high)
                fprintf(script, ", '' %.9g 1", plot_axis_at(axis, value));
        }
    fputs(")\n", script);
}

/* ---- Colours ------------------------------------------------------------------------------------ */

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
