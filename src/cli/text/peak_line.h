/* A peak in a line: from where to where it reaches, its calls, its part of the latency. */
#ifndef PEAK_LINE_H
#define PEAK_LINE_H

#include "peaks.h"
#include "screen.h"
#include "units.h"

void peak_line_print(const struct peak *peak, unsigned resolution, const struct units *units,
                     const struct screen *screen);

#endif
