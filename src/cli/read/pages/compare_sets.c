/* Reading sets of profiles, and comparing them. */
#include "compare_sets.h"

#include <string.h>

#include "base.h"
#include "layers.h"
#include "name_set.h"

/* The file that a profile was read from. */
struct origin {
    const char *name; /* NULL: none */
    dev_t device;
    ino_t inode;
};

struct loaded {
    struct aggstats_profile *profiles; /* A's, then B's */
    struct origin *origins;            /* of each */
    size_t count;
};

static void finish_loaded(struct loaded *loaded) {
    for (size_t i = 0; i < loaded->count; i++)
        aggstats_profile_finish(&loaded->profiles[i]);
    free(loaded->profiles);
    free(loaded->origins);
}

/* Takes an input over, if it is comparable with those before. A file given twice would make noise seem smaller than it is.
 * Errors: reported to the user */
static bool take_input(struct loaded *loaded, const struct input *input, const char *first_name, const char *name) {
    const struct origin origin = {.name = input->is_file ? name : NULL, .device = input->device, .inode = input->inode};
    const char *layer = layers_name(&input->profile);
    const char *first = loaded->count > 0 ? layers_name(&loaded->profiles[0]) : layer;
    if (strcmp(first, layer) != 0) {
        complain("cannot compare %s with %s: one is of the layer %s, the other of %s", first_name, name, first, layer);
        return false;
    }
    for (size_t i = 0; i < loaded->count && origin.name; i++) {
        const struct origin *other = &loaded->origins[i];
        if (!other->name || other->device != origin.device || other->inode != origin.inode)
            continue;
        if (strcmp(other->name, name) == 0)
            complain("%s is given twice: a run counts once, and on one side", name);
        else
            complain("%s and %s are the same file: a run counts once, and on one side", other->name, name);
        return false;
    }
    loaded->origins[loaded->count] = origin;
    loaded->profiles[loaded->count++] = input->profile; /* all that an input owns */
    return true;
}

/* If a profile cannot be read, that is reported, and the others are tried too. is_b: see compare_sets.take */
static bool load_names(struct loaded *loaded, const struct compare_sets *sets, const struct name_set *names,
                       const char *first_name, bool is_b, struct input_layer *layer) {
    const input_load_fn load = sets->directory ? input_load_found : sets->load;
    bool is_whole = true;
    for (size_t i = 0; i < names->count; i++) {
        struct input input;
        bool is_read = load(names->names[i], &input) == 0;
        bool is_taken = !is_read || !is_b || !sets->take || sets->take(sets->context, names->names[i], &input) == 0;
        if (is_read && is_taken && input_choose(names->names[i], layer, &input) == 0 &&
            take_input(loaded, &input, first_name, names->names[i]))
            continue;
        is_whole = false;
        if (is_read)
            input_finish(&input);
    }
    return is_whole;
}

/* "a1.osprof ... a5.osprof" */
static void name_set(const struct name_set *names, char *ret_text, size_t size) {
    const char *first = names->names[0];
    const char *last = names->names[names->count - 1];
    if (names->count == 1)
        snprintf(ret_text, size, "%s", first);
    else
        snprintf(ret_text, size, "%s%s%s", first, names->count > 2 ? " ... " : " ", last);
}

static int compare_loaded(const struct compare_sets *sets, const struct loaded *loaded, const struct name_set *a,
                          const struct name_set *b, struct compared_sets *ret_sets) {
    int err = verdict_compare(loaded->profiles, a->count, loaded->count, &sets->options, &ret_sets->result);
    if (err == -EDOM)
        complain("cannot compare these profiles: some tell their clock's rate and others do not; add a line "
                 "\"# clock: tsc HZ Hz\" to those if you know it");
    else if (err == -EOVERFLOW)
        complain("cannot compare these profiles: the sum of a side does not fit 64 bits");
    else if (err == -ERANGE)
        complain("cannot compare these profiles: their clock rates are too far apart for their latencies");
    else if (err)
        complain("cannot compare these profiles: %s", strerror(-err));
    if (err)
        return err;
    /* If each is of one run of a command, the elapsed time is of interest. */
    bool are_jobs = true;
    for (size_t i = 0; i < loaded->count && are_jobs; i++)
        are_jobs = aggstats_profile_label(&loaded->profiles[i], "command") != NULL;
    name_set(a, ret_sets->a_name, sizeof(ret_sets->a_name));
    name_set(b, ret_sets->b_name, sizeof(ret_sets->b_name));
    ret_sets->page = (struct verdict_page){
        .result = &ret_sets->result, .a_name = ret_sets->a_name, .b_name = ret_sets->b_name, .is_job = are_jobs};
    return 0;
}

static int load_and_compare(const struct compare_sets *sets, const struct name_set *a, const struct name_set *b,
                            struct compared_sets *ret_sets) {
    const size_t count = a->count + b->count;
    struct loaded loaded = {.profiles = calloc(count, sizeof(*loaded.profiles)),
                            .origins = calloc(count, sizeof(*loaded.origins))};
    int err = -EINVAL;
    if (!loaded.profiles || !loaded.origins) {
        complain("no memory");
        finish_loaded(&loaded);
        return -ENOMEM;
    }
    struct input_layer layer = {.name = sets->layer};
    bool is_whole = load_names(&loaded, sets, a, a->names[0], false, &layer);
    is_whole &= load_names(&loaded, sets, b, a->names[0], true, &layer);
    if (is_whole && count < 3)
        complain("one run on each side tells nothing of noise: compare them as two profiles, without \"--\"");
    else if (is_whole)
        err = compare_loaded(sets, &loaded, a, b, ret_sets);
    finish_loaded(&loaded);
    return err;
}

int compare_sets(const struct compare_sets *sets, struct compared_sets *ret_sets) {
    const char *directory = sets->directory;
    struct name_set a = {0};
    struct name_set b = {0};
    if (!require_part(PART_STATISTICS, "compare sets of runs"))
        return -ENOTSUP;
    int err = directory ? name_set_in(directory, "a-", &a) : name_set_of(sets->a, sets->a_count, &a);
    if (!err)
        err = directory ? name_set_in(directory, "b-", &b) : name_set_of(sets->b, sets->b_count, &b);
    if (err && directory) {
        complain("cannot read directory %s: %s", directory, strerror(-err));
    } else if (!err && (a.count == 0 || b.count == 0)) {
        err = -ENOENT;
        if (directory)
            complain("%s holds no runs to compare: files a-*.osprof and b-*.osprof, as osprof run --vs --repeat -o "
                     "writes them",
                     directory);
        else
            complain("nothing to compare: a list names no profile");
    }
    if (!err)
        err = load_and_compare(sets, &a, &b, ret_sets);
    name_set_finish(&a);
    name_set_finish(&b);
    return err;
}

void compared_sets_finish(struct compared_sets *sets) {
    verdict_finish(&sets->result);
}

/* ---- The changes that make the exit status 1 ---------------------------------------------------- */

const char *fail_on_parse(const char *text, unsigned *ret_questions, char why[OPTION_TEXT_SIZE]) {
    static const struct {
        const char *word;
        enum verdict_question question;
    } words[] = {
        {"change", VERDICT_ON_CHANGE}, {"slower", VERDICT_ON_SLOWER},   {"calls", VERDICT_ON_CALLS},
        {"total", VERDICT_ON_TOTAL},   {"elapsed", VERDICT_ON_ELAPSED},
    };
    unsigned questions = 0;
    for (const char *rest = text; rest;) {
        const size_t length = strcspn(rest, ",");
        size_t i = 0;
        while (i < ARRAY_SIZE(words) &&
               (strlen(words[i].word) != length || strncasecmp(words[i].word, rest, length) != 0))
            i++;
        if (i == ARRAY_SIZE(words)) {
            snprintf(why, OPTION_TEXT_SIZE,
                     "must be change, slower, calls, total or elapsed, or several of them with commas between");
            return why;
        }
        questions |= words[i].question;
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    *ret_questions = questions;
    return NULL;
}
