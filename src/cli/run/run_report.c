/* Profiles of a run, with the command in their headers. */
#include "run_report.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "command.h"
#include "layers_page.h"
#include "output.h"
#include "run_attach.h"
#include "show.h"

#define COMMAND_BYTES_MAX 1024 /* of the header line */
#define SCREEN_LINES 20
#define PAGES_MAX 3 /* of several directories, on one screen */
#define LAYERS_ROWS_MAX 6
#define GROUP_ROWS_MAX 18 /* a table of them fits a screen of 24 lines, with the text around it */

/* ---- The target --------------------------------------------------------------------------------- */

/* The name of one file in the target's directory. Owner: the caller frees it. Returns NULL without memory */
static char *name_of(const struct run_target *target, size_t directory, size_t side) {
    char number[24] = "";
    char *name;
    if (target->count > 1 && directory != RUN_TARGET_COMMON)
        snprintf(number, sizeof(number), ".%zu", directory + 1);
    const char *letter = target->side_count == 1 ? "" : side == 0 ? ".a" : ".b";
    return asprintf(&name, "%s%s%s", target->name, number, letter) < 0 ? NULL : name;
}

/* Refuses an existing file of another type. */
static int check_name(const struct run_target *target, size_t directory, size_t side) {
    CLEANUP_FREE char *name = name_of(target, directory, side);
    return name ? check_replaceable(target->dir_fd, name) : -ENOMEM;
}

static int check_names(const struct run_target *target) {
    int error = target->has_common ? check_name(target, RUN_TARGET_COMMON, 0) : 0;
    for (size_t i = 0; i < target->count * target->side_count && error == 0; i++)
        error = check_name(target, i / target->side_count, i % target->side_count);
    return error;
}

static int open_file(struct run_target *target, const char *path) {
    const char *name;
    int error = open_parent(AT_FDCWD, path, &target->dir_fd, &name);
    if (error)
        return error;
    target->name = strdup(name);
    if (!target->name)
        return -ENOMEM;
    if (syscall(SYS_faccessat2, target->dir_fd, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0)
        return negative_errno();
    return check_names(target);
}

/* A FIFO without a reader is an error now, not a wait; once it is open, writes may wait as usual. */
static int open_stream(struct run_target *target, const char *path) {
    target->stream_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (target->stream_fd < 0)
        return negative_errno();
    return fcntl(target->stream_fd, F_SETFL, 0) < 0 ? negative_errno() : 0;
}

static int open_target(struct run_target *target, const char *given) {
    struct stat attr;
    if (target->count * target->side_count > 1)
        return open_file(target, given);
    if (may_be_planted(given))
        return -EPERM;
    if (stat(given, &attr) < 0)
        return open_file(target, given);
    if (S_ISDIR(attr.st_mode))
        return -EISDIR;
    if (!S_ISREG(attr.st_mode))
        return open_stream(target, given);
    CLEANUP_FREE char *existing = realpath(given, NULL); /* a symbolic link stays one */
    return existing ? open_file(target, existing) : negative_errno();
}

int run_target_open(struct run_target *ret_target, const char *what, const char *given, size_t count, size_t side_count,
                    bool has_common) {
    *ret_target = (struct run_target){.what = what,
                                      .given = given,
                                      .stream_fd = -1,
                                      .dir_fd = -1,
                                      .count = count,
                                      .side_count = side_count,
                                      .has_common = has_common && count > 1};
    int error = given && !output_is_stdout(given) ? open_target(ret_target, given) : 0;
    if (error)
        complain("cannot write %s %s: %s", what, given, replace_error_text(error));
    return error;
}

void run_target_finish(struct run_target *target) {
    close_fd(&target->stream_fd);
    close_fd(&target->dir_fd);
    free(target->name);
}

static int write_to_target(const struct run_target *target, size_t directory, size_t side, mode_t mode,
                           const char *text, size_t size_bytes) {
    if (output_is_stdout(target->given))
        return write_all(STDOUT_FILENO, text, size_bytes);
    if (target->stream_fd >= 0)
        return write_all(target->stream_fd, text, size_bytes);
    CLEANUP_FREE char *name = name_of(target, directory, side);
    return name ? replace_file(target->dir_fd, name, NULL, mode, text, size_bytes) : -ENOMEM;
}

/* ---- Header ------------------------------------------------------------------------------------- */

/* One line, cut if it is too long; characters that a line cannot hold become question marks. */
static void format_command(const char *const *command, char ret_text[COMMAND_BYTES_MAX]) {
    size_t length = 0;
    ret_text[0] = '\0';
    for (const char *const *argument = command; *argument && length < COMMAND_BYTES_MAX - 1; argument++) {
        int written = snprintf(ret_text + length, COMMAND_BYTES_MAX - length, "%s%s", length > 0 ? " " : "", *argument);
        length += written > 0 ? (size_t)written : 0;
    }
    if (length >= COMMAND_BYTES_MAX)
        memcpy(ret_text + COMMAND_BYTES_MAX - 4, "...", 4);
    make_line(ret_text);
}

int run_report_describe(struct aggstats_profile *profile, const char *const *command, unsigned run_count) {
    char text[COMMAND_BYTES_MAX];
    format_command(command, text);
    profile->has_runs = run_count > 1;
    profile->runs = run_count > 1 ? run_count : 0;
    return aggstats_profile_add_label(profile, "command", text);
}

/* ---- Reporting ---------------------------------------------------------------------------------- */

void run_report_not_written(const char *name, int error, const char *text) {
    complain("cannot write profile %s: %s%s", name, strerror(-error), text ? "; it follows" : "");
    if (text)
        fputs(text, stderr);
}

void run_report_not_shown(const char *what, int error) {
    complain("cannot show the %s: %s", what, strerror(-error));
}

int run_report_open(FILE **ret_stream) {
    CLEANUP_FD int fd = dup(STDERR_FILENO);
    *ret_stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (!*ret_stream)
        return negative_errno();
    steal_fd(&fd);
    putc('\n', *ret_stream);
    return 0;
}

static int save(const struct run_target *target, size_t directory, size_t side, const struct recording *recording) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = recording_format(recording, &text, &size_bytes);
    if (error == 0)
        error = write_to_target(target, directory, side, recording_mode(recording), text, size_bytes);
    if (error)
        run_report_not_written(target->given, error, text);
    return error;
}

int run_target_save(const struct run_target *target, size_t directory, size_t side,
                    const struct aggstats_profile *profile) {
    struct aggstats_profile layers[] = {*profile};
    const struct recording recording = {.layers = layers, .count = 1};
    return save(target, directory, side, &recording);
}

int run_target_save_page(const struct run_target *target, const struct report *report, struct subject *subject) {
    struct input_layer layer = {.is_told = true};
    struct report whole = *report;
    CLEANUP_FREE char *page = NULL;
    size_t size_bytes = 0;
    if (!target->given)
        return 0;
    whole.subject = subject;
    int error = subject_settle(subject, whole.name, &layer);
    if (error == 0)
        error = report_make(&whole, &page, &size_bytes);
    if (error)
        return error;
    error = write_to_target(target, 0, 0, subject->mode, page, size_bytes);
    if (error)
        complain("cannot write page %s: %s", target->given, strerror(-error));
    return error;
}

static bool is_of_mount(const struct aggstats_profile *layer) {
    const char *name = aggstats_profile_label(layer, "layer");
    return name && strcmp(name, "fs") == 0;
}

/* The argument with which osprof show finds the profile again: the file that was asked for, else what is kept. NULL:
 * there is none.
 * Owner:   the caller frees it */
static char *name_again(const struct run_target *target, size_t directory, const struct kept *kept) {
    char *name = NULL;
    const char *given = target->given ? target->given : "";
    const char *slash = strrchr(given, '/');
    CLEANUP_FREE char *file = target->name ? name_of(target, directory, 0) : NULL;
    if (file && asprintf(&name, "%.*s%s", slash ? (int)(slash + 1 - given) : 0, given, file) >= 0)
        return name;
    if (file || kept->error || !kept->stamp[0])
        return NULL;
    if (target->count == 1 || directory == RUN_TARGET_COMMON)
        return strdup("");
    return asprintf(&name, "@1.%zu", directory + 1) < 0 ? NULL : name;
}

/* What its page says of where it is from. is_only: the run has no other layer; again: see name_again() */
static struct answer_source make_source(const struct run_mounts *mounts, size_t directory,
                                        const struct run_shown *shown, const struct aggstats_profile *layer,
                                        bool is_only, const char *again) {
    struct answer_source source = {.profile = again,
                                   .layer = is_only ? NULL : aggstats_profile_label(layer, "layer"),
                                   .is_run = true,
                                   .has_groups_unasked = shown->has_groups_unasked};
    if (is_of_mount(layer)) {
        source.directory = mounts->daemons[directory].name;
        source.has_mount = true;
        source.has_groups_unasked = mounts->options.has_groups_unasked;
    } else if (is_only) {
        source.directory = shown->directory;
    }
    return source;
}

/* layer: NULL: the only one. Owner: the caller frees it */
static char *format_how_all(const struct aggstats_profile *layer, const char *again) {
    const char *name = layer ? aggstats_profile_label(layer, "layer") : NULL;
    char *text = NULL;
    return asprintf(&text, "'osprof show%s%s --by all%s%s' lists all", name ? " --layer " : "", name ? name : "",
                    again[0] ? " " : "", again) < 0
               ? NULL
               : text;
}

/* Of each page: so that all of them, each after an empty line, are on one screen, with a line about what is on none. 0:
 * no limit */
static unsigned lines_of_page(const struct run_mounts *mounts, const struct run_shown *shown) {
    const size_t directories = mounts->count < PAGES_MAX ? mounts->count : PAGES_MAX;
    const unsigned pages = mounts->count > 1 ? (unsigned)directories + 1 : 1;
    return shown->is_verbose ? 0 : (SCREEN_LINES - (pages > 1)) / pages - 1;
}

/* Groups have tables if they were asked for. */
static int show(const struct run_mounts *mounts, size_t directory, const struct run_shown *shown,
                const struct aggstats_profile *layer, bool is_only, const char *again) {
    const struct input input = {.profile = *layer};
    CLEANUP_FREE char *how_all = again ? format_how_all(is_only ? NULL : layer, again) : NULL;
    CLEANUP_FREE char *attach = run_attach_command(shown->attach, layer);
    struct show_options options = {
        .charts = shown->charts,
        .lines_max = lines_of_page(mounts, shown),
        .group_rows_max = GROUP_ROWS_MAX,
        .how_all_groups = how_all ? how_all : "-p FILE keeps them",
        .source = make_source(mounts, directory, shown, layer, is_only, again),
    };
    options.source.attach = attach;
    int error = run_report_open(&options.stream);
    if (error)
        return error;
    options.joint = input.profile.joint_count > 0 && is_of_mount(layer);
    error = options.source.has_groups_unasked || options.lines_max > 0 ? show_page(&input, &options)
                                                                       : show_all(&input, &options);
    return fclose(options.stream) != 0 && error == 0 ? negative_errno() : error;
}

/* Prints the table of all of them. */
static int show_together(const struct run_mounts *mounts, const struct run_shown *shown,
                         const struct recording *recording, const char *again) {
    const struct layers_page page = {
        .recording = recording, .name = again, .row_max = LAYERS_ROWS_MAX, .lines_max = lines_of_page(mounts, shown)};
    FILE *stream;
    int error = run_report_open(&stream);
    if (error)
        return error;
    const struct screen screen = screen_of(stream, 0, false);
    error = layers_page_print(&page, &screen);
    return fclose(stream) != 0 && error == 0 ? negative_errno() : error;
}

static void show_layers(const struct run_mounts *mounts, size_t directory, const struct run_shown *shown,
                        const struct recording *recording, const char *again) {
    const bool are_several = recording->count > 1;
    int error = are_several ? show_together(mounts, shown, recording, again) : 0;
    for (size_t i = 0; i < recording->count && error == 0 && (!are_several || shown->is_verbose || shown->charts); i++)
        error = show(mounts, directory == RUN_TARGET_COMMON ? 0 : directory, shown, &recording->layers[i],
                     recording->count == 1, again);
    if (error)
        run_report_not_shown("profile", error);
}

static int describe(struct recording *recording, const struct run_shown *shown) {
    int error = 0;
    for (size_t i = 0; i < recording->count && error == 0; i++) {
        error = run_report_describe(&recording->layers[i], shown->command, shown->run_count);
        if (error == 0 && shown->still_running[0])
            error = aggstats_profile_add_label(&recording->layers[i], "still_running", shown->still_running);
        else if (error == 0) /* what is left may be what is at the disk */
            error = run_neighbours_add(shown->neighbours, &recording->layers[i]);
    }
    return error;
}

/* Adds the layer of a mount. */
static int take_mount(struct run_mounts *mounts, size_t directory, const struct run_programs *programs,
                      struct recording *layers) {
    struct input input = {0};
    int error = run_daemon_profile(&mounts->daemons[directory], &mounts->options, &input);
    if (error)
        return error;
    input.profile.has_program = programs->are_known;
    input.profile.program_ns = programs->wait_ns;
    input.profile.locking_ns = programs->locking_ns;
    error = recording_add(layers, &input.profile);
    if (error)
        complain("the profile of %s is lost: %s", mounts->daemons[directory].name, strerror(-error));
    input_finish(&input);
    return error;
}

static void keep(struct kept *kept, size_t part, const struct recording *recording) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = recording_format(recording, &text, &size_bytes);
    if (error)
        kept->error = error;
    else
        kept_save(kept, part, text, size_bytes);
}

static int report_layers(struct run_mounts *mounts, struct recording *layers, const struct run_target *target,
                         struct kept *kept, size_t directory, const struct run_shown *shown) {
    int error = describe(layers, shown);
    if (error)
        run_report_not_shown("profile", error);
    if (error || layers->count == 0)
        return error;
    keep(kept, target->count == 1 || directory == RUN_TARGET_COMMON ? 0 : directory + 1, layers);
    if (target->given)
        error = save(target, directory, 0, layers);
    CLEANUP_FREE char *again = name_again(target, directory, kept);
    if (!shown->is_quiet && (directory == RUN_TARGET_COMMON || directory < PAGES_MAX || shown->is_verbose))
        show_layers(mounts, directory, shown, layers, again);
    return error;
}

/* The page about all layers. */
static int save_page(const struct run_target *page, const struct recording *layers, const struct run_target *target,
                     const struct kept *kept) {
    const struct input input = {.profile = layers->count == 1 ? layers->layers[0] : (struct aggstats_profile){0},
                                .layers = layers->count == 1 ? (struct recording){0} : *layers};
    CLEANUP_FREE char *name = name_again(target, 0, kept);
    char *const names[] = {name};
    struct subject subject = {.count = 0};
    struct report_again again;
    struct report report = {.name = "this run"};
    if (!page->given || layers->count == 0)
        return 0;
    if (name && name[0]) {
        report_format_again(NULL, 0, names, 1, "", &again);
        report.again = &again;
    }
    int error = subject_add(&subject, report.name, &input);
    if (error == 0)
        error = run_target_save_page(page, &report, &subject);
    subject_finish(&subject);
    return error;
}

/* Reports one mount, independently of the others. */
static int report_mount(struct run_mounts *mounts, const struct run_target *target, struct kept *kept, size_t directory,
                        const struct run_shown *shown) {
    struct recording layers = {.layers = NULL};
    int error = take_mount(mounts, directory, &(struct run_programs){0}, &layers);
    if (error == 0)
        error = report_layers(mounts, &layers, target, kept, directory, shown);
    recording_finish(&layers);
    return error;
}

/* What is on no page. */
static void tell_more(const struct run_mounts *mounts, const struct run_target *target, const struct kept *kept) {
    const size_t count = mounts->count - PAGES_MAX;
    CLEANUP_FREE char *again = name_again(target, PAGES_MAX, kept);
    if (again)
        complain("%zu more director%s: 'osprof show %s'%s", count, count == 1 ? "y" : "ies", again,
                 count == 1 ? "" : " and so on");
}

int run_report(struct run_mounts *mounts, struct recording *layers, const struct run_target *target,
               const struct run_target *page, struct kept *kept, const struct run_shown *shown) {
    bool is_one = mounts->count <= 1;
    int first_error = mounts->count == 1 ? take_mount(mounts, 0, &shown->programs, layers) : 0;
    int error = report_layers(mounts, layers, target, kept, is_one ? 0 : RUN_TARGET_COMMON, shown);
    first_error = first_error ? first_error : error;
    error = save_page(page, layers, target, kept);
    first_error = first_error ? first_error : error;
    for (size_t i = 0; !is_one && i < mounts->count; i++) {
        error = report_mount(mounts, target, kept, i, shown);
        first_error = first_error ? first_error : error;
    }
    if (mounts->count > PAGES_MAX && !shown->is_verbose && !shown->is_quiet)
        tell_more(mounts, target, kept);
    return first_error;
}
