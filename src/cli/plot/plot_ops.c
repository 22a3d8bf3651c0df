/* The operations of a figure, those that took most time first. */
#include "plot_ops.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"

static const struct aggstats_op_profile *finished_op(const struct aggstats_profile *profile, const char *name) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
    return op && figures_finished(op, profile->resolution) > 0 ? op : NULL;
}

/* Adds the op of all profiles, unless it is there already. */
static void add_op(struct plot *plot, const char *name) {
    struct plot_op op = {.name = name};
    for (size_t i = 0; i < plot->op_count; i++) {
        assert(plot->ops[i].name);
        if (strcmp(plot->ops[i].name, name) == 0)
            return;
    }
    for (size_t i = 0; i < plot->profile_count; i++) {
        op.of[i] = finished_op(plot->profiles[i], name);
        op.total += op.of[i] ? plot_time(plot, i, (double)op.of[i]->total_cycles) : 0;
    }
    if (op.of[0] || op.of[1])
        plot->ops[plot->op_count++] = op;
}

static int by_total(const void *a, const void *b) {
    const struct plot_op *left = a;
    const struct plot_op *right = b;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return strcmp(left->name, right->name);
}

int plot_ops_choose(struct plot *plot, const struct option_list *wanted) {
    size_t count_max = 0;
    for (size_t i = 0; i < plot->profile_count; i++)
        count_max += plot->profiles[i]->op_count;
    plot->ops = calloc(count_max + 1, sizeof(*plot->ops));
    if (!plot->ops)
        return -ENOMEM;
    for (size_t i = 0; i < plot->profile_count; i++) {
        for (size_t j = 0; j < plot->profiles[i]->op_count; j++) {
            if (option_list_wants(wanted, plot->profiles[i]->ops[j].name))
                add_op(plot, plot->profiles[i]->ops[j].name);
        }
    }
    qsort(plot->ops, plot->op_count, sizeof(*plot->ops), by_total);
    return 0;
}

int plot_ops_make_comparable(struct aggstats_profile *a, struct aggstats_profile *b) {
    unsigned resolution = a->resolution < b->resolution ? a->resolution : b->resolution;
    int error = aggstats_profile_coarsen(a, resolution);
    return error ? error : aggstats_profile_coarsen(b, resolution);
}
