/* Logarithmic axes of figures. */
#include "plot_axis.h"

#include <math.h>

#include "gnuplot_text.h"
#include "units.h"

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

static void format_power(const struct plot_axis *axis, int exponent, char ret_text[UNITS_TEXT_SIZE]) {
    const struct units units = {.frequency_hz = 1};
    if (axis->unit == PLOT_SECONDS)
        units_format_power_seconds(&units, exponent, ret_text);
    else if (exponent >= 0 && exponent <= 20)
        units_format_power_count(exponent, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "1e%d", exponent);
}

static void put_mark(const struct plot_axis *axis, int exponent, const char *separator, bool labelled, FILE *script) {
    char text[UNITS_TEXT_SIZE] = "";
    if (labelled)
        format_power(axis, exponent, text);
    fputs(separator, script);
    gnuplot_put_text(script, text, UNITS_TEXT_SIZE);
    fprintf(script, " %.9g", plot_axis_at(axis, pow(10, exponent)));
}

/* Between one power and the next. */
static void put_minor_marks(const struct plot_axis *axis, int exponent, FILE *script) {
    for (int digit = 2; digit <= 9; digit++) {
        double value = digit * pow(10, exponent);
        if (value >= axis->low && value <= axis->high)
            fprintf(script, ", '' %.9g 1", plot_axis_at(axis, value));
    }
}

void plot_axis_put(const struct plot_axis *axis, const char *name, FILE *script) {
    int first = (int)ceil(log10(axis->low));
    int last = (int)floor(log10(axis->high));
    int step = axis->labels_max > 0 ? (last - first) / (int)axis->labels_max + 1 : 1;
    if (!axis->as_decades)
        fprintf(script, "set logscale %s\n", name);
    fprintf(script, "set %srange [%.9g:%.9g]\nset %stics (", name, plot_axis_at(axis, axis->low),
            plot_axis_at(axis, axis->high), name);
    for (int exponent = first; exponent <= last; exponent++)
        put_mark(axis, exponent, exponent > first ? ", " : "", axis->labels_max > 0 && (exponent - first) % step == 0,
                 script);
    for (int exponent = first - 1; exponent <= last && step == 1 && axis->labels_max > 0; exponent++)
        put_minor_marks(axis, exponent, script);
    fputs(")\n", script);
}
