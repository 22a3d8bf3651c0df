/* A profile as JSON, with the advice that the page has. */
#include "advice_json.h"

#include "answer_model.h"
#include "views.h"

static const char *name_of(const struct aggstats_group *group) {
    return group ? group->name : NULL;
}

static uint64_t narrow(wide_count count) {
    return count > UINT64_MAX ? UINT64_MAX : (uint64_t)count;
}

int advice_json_write(const struct aggstats_profile *profile, FILE *stream) {
    struct answer_model model;
    struct view_advice views[ADVICE_MAX];
    const double hz = (double)profile->clock.frequency_hz;
    answer_model_make(profile, NULL, 0, &model);
    for (size_t i = 0; i < model.advice_count; i++) {
        const struct advice *advice = &model.advice[i];
        views[i] = (struct view_advice){
            .rule = advice_rule_name(advice->rule),
            .op = advice->op ? advice->op->name : NULL,
            .program = name_of(advice->program),
            .place = name_of(advice->place),
            .calls = narrow(advice->calls),
            .of_calls = narrow(advice->of_calls),
            .busy_seconds = hz > 0 ? advice->busy_cycles / hz : 0,
            .bound = advice->bound,
            .between = advice->between,
        };
    }
    return view_write_advised_json(profile, views, model.advice_count, stream);
}
