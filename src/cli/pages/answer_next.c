/* Recommended commands, ready for a shell, as many as fit the screen. */
#include "answer_next.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "groups.h"
#include "units.h"

#define KEY_COLUMNS 10 /* as in screen_print_key() */

/* A command with its argument, which may be too long for the screen. */
struct next {
    const struct screen *screen;
    size_t count; /* of those printed */
};

/* ---- Arguments ---------------------------------------------------------------------------------- */

static bool is_plain(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    return text[0] && text[strspn(text, plain)] == '\0';
}

static void write_quoted(FILE *stream, const char *text) {
    if (is_plain(text)) {
        fputs(text, stream);
        return;
    }
    putc('\'', stream);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stream);
        else
            putc(*text, stream);
    }
    putc('\'', stream);
}

/* Arguments for a shell, separated by blanks. Owner: the caller frees it. Returns NULL without memory */
static char *quote_all(const char *const *arguments) {
    char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return NULL;
    for (size_t i = 0; arguments[i]; i++) {
        fputs(i > 0 ? " " : "", stream);
        write_quoted(stream, arguments[i]);
    }
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static char *quote(const char *argument) {
    const char *const arguments[] = {argument, NULL};
    return quote_all(arguments);
}

/* ---- Lines -------------------------------------------------------------------------------------- */

/* Prints a command, with the reason after it if both fit. Returns false, and prints nothing, if the command does
 * not. */
static bool print_line(struct next *next, const char *command, const char *why) {
    int columns = KEY_COLUMNS + units_text_columns(command);
    if (columns > next->screen->width)
        return false;
    screen_print_key(next->screen, next->count == 0 ? "next" : "");
    screen_print_untrusted(next->screen, INK_STRONG, command);
    if (columns + 4 + units_text_columns(why) <= next->screen->width) {
        screen_ink(next->screen, INK_FAINT);
        fprintf(next->screen->stream, "  # %s", why);
        screen_ink(next->screen, INK_PLAIN);
    }
    putc('\n', next->screen->stream);
    next->count++;
    return true;
}

/* A command, then its last argument; if that does not fit, its placeholder in the manual. */
static void print_command(struct next *next, const char *why, const char *command, const char *argument,
                          const char *stands_for) {
    CLEANUP_FREE char *whole = NULL;
    CLEANUP_FREE char *brief = NULL;
    if (asprintf(&whole, "%s %s", command, argument) < 0)
        whole = NULL;
    if (asprintf(&brief, "%s %s", command, stands_for) < 0)
        brief = NULL;
    if (!whole || !print_line(next, whole, why)) {
        if (brief)
            print_line(next, brief, why);
    }
}

/* ---- For a profile that can be shown again ------------------------------------------------------- */

/* The name of a group for --of; NULL: it has none. */
static const char *name_for_of(const struct aggstats_group *group, char id[GROUPS_ID_SIZE]) {
    const char *name = groups_name(group);
    groups_format_id(group, id);
    bool is_found = name[0] && strcmp(name, "kernel") != 0 && strcmp(name, "other") != 0;
    if (is_found && (!id[0] || name[strspn(name, "0123456789")] != '\0'))
        return name;
    return id[0] ? id : NULL;
}

static const struct aggstats_group *busiest(const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].who == AGGSTATS_WHO_ID)
            return &profile->groups[i];
    return NULL;
}

/* " --by process --of cc1", or the part that is known. Owner: the caller frees it */
static char *format_whose(const char *by, const char *of) {
    CLEANUP_FREE char *who = quote(of);
    char *text = NULL;
    if (!who || asprintf(&text, "%s%s --of%c%s", by ? " --by " : "", by ? by : "", of[0] == '-' ? '=' : ' ', who) < 0)
        return NULL;
    return text;
}

/* " --layer user", or nothing. Owner: the caller frees it */
static char *format_layer(const char *layer) {
    CLEANUP_FREE char *name = quote(layer ? layer : "");
    char *text = NULL;
    if (!name || asprintf(&text, "%s%s", layer ? " --layer " : "", layer ? name : "") < 0)
        return NULL;
    return text;
}

static void print_of(const struct aggstats_group *group, struct next *next, const char *layer, const char *profile) {
    char id[GROUPS_ID_SIZE];
    const char *name = group ? name_for_of(group, id) : NULL;
    CLEANUP_FREE char *whose = name ? format_whose(aggstats_grouping_name(group->grouping), name) : NULL;
    CLEANUP_FREE char *command = NULL;
    if (whose && asprintf(&command, "osprof show%s%s", layer, whose) < 0)
        command = NULL;
    if (command)
        print_command(next, "its calls alone", command, profile, "PROFILE");
}

static void print_of_profile(const struct answer_source *source, const struct aggstats_group *group,
                             const struct answer_model *model, bool has_causes, struct next *next) {
    bool is_kept = strcmp(source->profile, "-") != 0; /* standard input cannot be read again */
    CLEANUP_FREE char *profile = is_kept ? quote(source->profile) : strdup("PROFILE");
    CLEANUP_FREE char *whose = source->of ? format_whose(source->by, source->of) : strdup("");
    CLEANUP_FREE char *layer = format_layer(source->layer);
    CLEANUP_FREE char *why = NULL;
    CLEANUP_FREE char *command = NULL;
    if (profile && whose && layer &&
        asprintf(&command, "osprof show%s%s --op %s", layer, whose, model->peaks[0].op->name) < 0)
        command = NULL;
    if (!command)
        return;
    print_command(next, "its latencies as a chart", command, profile, "PROFILE");
    print_of(group, next, layer, profile);
    if (asprintf(&why, "osprof why%s", layer) < 0)
        why = NULL;
    if (has_causes && why)
        print_command(next, "what slow calls waited for", why, profile, "PROFILE");
    if (source->is_live)
        print_command(next, "what happens now, and who does it", "osprof top", profile, "MOUNT");
}

/* ---- For a run ----------------------------------------------------------------------------------- */

/* "osprof run -d DIR -o LIST", and one more option. Owner: the caller frees it */
static char *format_run(const struct answer_source *source, const char *option) {
    CLEANUP_FREE char *directory = quote(source->directory ? source->directory : ".");
    CLEANUP_FREE char *options = quote(source->options ? source->options : "");
    bool is_here = !source->directory || strcmp(source->directory, ".") == 0;
    char *text = NULL;
    if (!directory || !options ||
        asprintf(&text, "osprof run%s%s%s%s %s --", is_here ? "" : " -d ", is_here ? "" : directory,
                 source->options ? " -o " : "", source->options ? options : "", option) < 0)
        return NULL;
    return text;
}

static void print_run(const struct answer_source *source, struct next *next, const char *option, const char *why) {
    CLEANUP_FREE char *run = format_run(source, option);
    CLEANUP_FREE char *command = quote_all(source->command);
    if (run && command)
        print_command(next, why, run, command, "COMMAND");
}

static void print_of_run(const struct answer_source *source, bool has_groups, bool wants_calibration,
                         struct next *next) {
    CLEANUP_FREE char *directory = quote(source->directory ? source->directory : ".");
    if (!has_groups)
        print_run(source, next, "-o by=program", "which program");
    else if (source->has_groups_unasked)
        print_run(source, next, "-o by=file", "all of the files");
    print_run(source, next, "--charts", "latencies as charts");
    if (wants_calibration && directory)
        print_command(next, "once: then peaks have names", "osprof calibrate", directory, "DIR");
}

void answer_next_print(const struct answer_source *source, const struct aggstats_profile *profile,
                       const struct answer_model *model, bool wants_calibration, const struct screen *screen) {
    struct next next = {.screen = screen};
    if (model->peak_count == 0)
        return;
    if (source->profile)
        print_of_profile(source, busiest(profile), model, profile->cause_count > 0 && !source->of, &next);
    else if (source->command)
        print_of_run(source, profile->groupings != 0, wants_calibration, &next);
}

void answer_next_print_layer(const char *name, const char *layer, const struct screen *screen) {
    struct next next = {.screen = screen};
    CLEANUP_FREE char *profile = strcmp(name, "-") != 0 ? quote(name) : strdup("RECORDING");
    CLEANUP_FREE char *option = format_layer(layer);
    CLEANUP_FREE char *command = NULL;
    if (profile && option && asprintf(&command, "osprof show%s", option) < 0)
        command = NULL;
    if (command)
        print_command(&next, "one of the layers", command, profile, "RECORDING");
}
