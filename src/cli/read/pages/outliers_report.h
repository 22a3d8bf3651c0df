/* Profiles that differ from their peers, for people and as JSON. */
#ifndef OUTLIERS_REPORT_H
#define OUTLIERS_REPORT_H

#include "outliers.h"
#include "sheet.h"

struct outliers_report {
    const struct outliers_result *result;
    const char *by; /* the label that peers share; NULL: none */
    double factor_min;
};

/* Prints a line for each outlier, the clearest first, then one for each profile that is slow or fast as a whole. */
void outliers_report_print(const struct outliers_report *report, const struct screen *screen);

/* The same as JSON, after docs/outliers.schema.json, on standard output. */
void outliers_report_print_json(const struct outliers_report *report);

#endif
