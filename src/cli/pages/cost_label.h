/* The header's line "cost": what counting has cost the system calls of the machine. */
#ifndef COST_LABEL_H
#define COST_LABEL_H

#include <stdbool.h>
#include <stdint.h>

#define COST_LABEL "cost"
#define COST_LABEL_SIZE 100

/* Instead of the figures. Where calls take the kernel's slow way already, it cannot be measured what that costs. */
#define COST_NOT_MEASURED "not measured, as another osprof attach was running already"

struct cost_label {
    uint64_t calls;    /* of the machine, meanwhile */
    double other_ns;   /* each of these */
    double counted_ns; /* each that was counted */
};

void cost_label_format(const struct cost_label *cost, char ret_text[COST_LABEL_SIZE]);

/* Returns false if there are no such figures */
bool cost_label_parse(const char *text, struct cost_label *ret_cost);

#endif
