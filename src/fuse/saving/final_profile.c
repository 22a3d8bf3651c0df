/* The final profile that cannot be written where it should. */
#include "final_profile.h"

#include <string.h>

#include "base.h"
#include "log.h"

/* The last resort when nothing can be written anywhere. */
static void print_profile(const char *text) {
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        log_message("%.*s", (int)(end - text), text);
    }
}

static char *make_outcome(const char *what, const char *where) {
    char *outcome = NULL;
    return asprintf(&outcome, "%s %s\n", what, where) < 0 ? NULL : outcome;
}

char *final_profile_saved(const struct profile_target *target) {
    return make_outcome("saved", target->shown);
}

bool final_profile_keep(const struct profile_target *target, const struct aggstats_recorder *recorder,
                        const struct control_text *text, int err, char **ret_outcome) {
    const char *why = strerror(-err);
    const char *shown = target->shown;
    const char *live_path = aggstats_recorder_live_path(recorder);
    bool is_live_whole = live_path && aggstats_recorder_live_complete(recorder) && !text->exceeds_live;
    CLEANUP_FREE char *second = NULL;
    *ret_outcome = live_path ? make_outcome("live", live_path) : make_outcome("lost", "");
    if (text->text && is_live_whole) {
        log_message("cannot write profile %s: %s; saved in %s (osprof recover %s)", shown, why, live_path, live_path);
    } else if (text->text && profile_target_save_second(target, text, &second) == 0) {
        log_message("cannot write profile %s: %s; saved in %s", shown, why, second);
        free(*ret_outcome);
        *ret_outcome = make_outcome("elsewhere", second);
        return false;
    } else if (text->text) {
        log_message("cannot write profile %s: %s; it follows", shown, why);
        print_profile(text->text);
    } else if (live_path) {
        log_message("cannot write profile %s: %s; its counters are in %s (osprof recover %s), the rest is lost", shown,
                    why, live_path, live_path);
    } else {
        log_message("cannot write profile %s: %s; it is lost", shown, why);
    }
    return true;
}
