/* Profiles of a run, with the command in their headers. */
#include "run_report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggstats/numbers.h"
#include "answer_page.h"
#include "base.h"
#include "collector.h"
#include "command.h"
#include "dir.h"
#include "layers_page.h"
#include "mounts.h"
#include "output.h"
#include "path.h"
#include "show.h"

#define COMMAND_BYTES_MAX 1024 /* of the header line */
#define SCREEN_LINES 20
#define PAGES_MAX 3 /* of several directories, on one screen */
#define LAYERS_ROWS_MAX 6
#define DIRECTORY_BYTES_MAX 50 /* keeps the command on one line */
#define GROUP_ROWS_MAX 18      /* a table of them fits a screen of 24 lines, with the text around it */

#ifdef __x86_64__
#define SEES_FOREIGN true
#else
#define SEES_FOREIGN false /* not those of 32 bits */
#endif

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

static int open_file(struct run_target *target, const char *path) {
    const size_t count = target->count * target->side_count;
    const char *name;
    int error = open_parent(AT_FDCWD, path, &target->dir_fd, &name);
    if (error)
        return error;
    target->name = strdup(name);
    if (!target->name)
        return -ENOMEM;
    if (syscall(SYS_faccessat2, target->dir_fd, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0)
        return negative_errno();
    for (size_t i = 0; i < count + target->has_common && error == 0; i++) {
        CLEANUP_FREE char *file = i == count ? name_of(target, RUN_TARGET_COMMON, 0)
                                             : name_of(target, i / target->side_count, i % target->side_count);
        error = file ? output_check_at(target->dir_fd, file) : -ENOMEM;
    }
    return error;
}

int run_target_open(struct run_target *ret_target, const char *what, const char *given, size_t count, size_t side_count,
                    bool has_common) {
    *ret_target = (struct run_target){.what = what,
                                      .given = given,
                                      .dir_fd = -1,
                                      .count = count,
                                      .side_count = side_count,
                                      .has_common = has_common && count > 1};
    int error = given && !output_is_stdout(given) ? open_file(ret_target, given) : 0;
    if (error)
        complain("cannot write %s %s: %s", what, given, output_error_text(error));
    return error;
}

void run_target_finish(struct run_target *target) {
    close_fd(&target->dir_fd);
    free(target->name);
}

static int write_to_target(const struct run_target *target, size_t directory, size_t side, mode_t mode,
                           const char *text, size_t size_bytes) {
    if (output_is_stdout(target->given))
        return write_all(STDOUT_FILENO, text, size_bytes);
    CLEANUP_FREE char *name = name_of(target, directory, side);
    return name ? output_write_at(target->dir_fd, name, mode, text, size_bytes) : -ENOMEM;
}

/* ---- Header ------------------------------------------------------------------------------------- */

/* The command is one line, cut if it is too long; characters that a line cannot hold become question marks. */
int run_report_describe(struct aggstats_profile *profile, const char *const *command, unsigned run_count,
                        const struct aggstats_exit *exit) {
    char text[COMMAND_BYTES_MAX] = "";
    size_t length = 0;
    for (const char *const *argument = command; *argument && length < COMMAND_BYTES_MAX - 1; argument++) {
        int written = snprintf(text + length, COMMAND_BYTES_MAX - length, "%s%s", length > 0 ? " " : "", *argument);
        length += written > 0 ? (size_t)written : 0;
    }
    if (length >= COMMAND_BYTES_MAX)
        memcpy(text + COMMAND_BYTES_MAX - 4, "...", 4);
    make_line(text);
    profile->has_runs = run_count > 1;
    profile->runs = run_count > 1 ? run_count : 0;
    profile->has_exit = run_count > 0;
    profile->exit = *exit;
    return aggstats_profile_add_label(profile, "command", text);
}

/* ---- Reporting ---------------------------------------------------------------------------------- */

/* Reports that a profile could not be written. If it is not kept either, it is printed, if there was memory for its text.
 * kept_name: such as "@1"; NULL: it is not kept */
static void report_not_written(const char *name, int error, const char *kept_name, const char *text) {
    complain("cannot write profile %s: %s%s%s", name, output_error_text(error),
             kept_name ? "; it is kept: osprof show "
             : text    ? "; it follows"
                       : "",
             kept_name ? kept_name : "");
    if (text && !kept_name)
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

/* kept_name: as for report_not_written() */
static int save(const struct run_target *target, size_t directory, size_t side, const struct recording *recording,
                const char *kept_name) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = recording_format(recording, &text, &size_bytes);
    if (error == 0)
        error = write_to_target(target, directory, side, recording_mode(recording), text, size_bytes);
    if (error)
        report_not_written(target->given, error, kept_name, text);
    return error;
}

int run_target_save(const struct run_target *target, size_t directory, size_t side,
                    const struct aggstats_profile *profile) {
    struct aggstats_profile layers[] = {*profile};
    const struct recording recording = {.layers = layers, .count = 1};
    return save(target, directory, side, &recording, NULL);
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
        complain("cannot write page %s: %s", target->given, output_error_text(error));
    return error;
}

/* The name of the kept result, "@1" or "@1.2"; NULL: it is not kept. Owner: the caller frees it */
static char *kept_name_of(const struct run_target *target, size_t directory, const struct kept *kept) {
    char *name = NULL;
    if (kept->error || !kept->stamp[0])
        return NULL;
    if (target->count == 1 || directory == RUN_TARGET_COMMON)
        return strdup("@1");
    return asprintf(&name, "@1.%zu", directory + 1) < 0 ? NULL : name;
}

/* The argument with which osprof show finds the profile again: the file that was asked for, if it was written, else what
 * is kept; "": the last result. NULL: there is none.
 * Owner:   the caller frees it */
static char *name_again(const struct run_target *target, size_t directory, const struct kept *kept, bool is_written) {
    char *name = NULL;
    const char *given = target->given ? target->given : "";
    const char *slash = strrchr(given, '/');
    CLEANUP_FREE char *file = target->name && is_written ? name_of(target, directory, 0) : NULL;
    if (file && asprintf(&name, "%.*s%s", slash ? (int)(slash + 1 - given) : 0, given, file) >= 0)
        return name;
    name = file ? NULL : kept_name_of(target, directory, kept);
    if (name && strcmp(name, "@1") == 0)
        name[0] = '\0';
    return name;
}

/* Of each page: so that all of them, each after an empty line, are on one screen, with a line about what is on none. 0:
 * no limit */
static unsigned lines_of_page(const struct run_mounts *mounts, const struct run_shown *shown) {
    const size_t directories = mounts->count < PAGES_MAX ? mounts->count : PAGES_MAX;
    const unsigned pages = mounts->count > 1 ? (unsigned)directories + 1 : 1;
    return shown->options->is_verbose ? 0 : (SCREEN_LINES - (pages > 1)) / pages - 1;
}

/* The command that is offered for what the layer user has not seen: osprof attach, where it works. directory: of
 * run_report_attachable(); NULL: none
 * Owner:   the caller frees it. Returns NULL if all was seen, if osprof attach does not work here or sees less, or without
 *          memory */
static char *format_attach(const char *directory, const struct aggstats_profile *layer) {
    const bool is_seen = (SEES_FOREIGN || layer->not_seen[AGGSTATS_UNSEEN_FOREIGN] == 0) &&
                         (layer->not_seen[AGGSTATS_UNSEEN_IO_URING] == 0 || collector_counts(COLLECTOR_RINGS));
    if (!directory || !aggstats_profile_has_unseen(layer) || !is_seen || !collector_is_possible())
        return NULL;
    CLEANUP_FREE char *quoted = answer_next_quote(directory);
    char *command = NULL;
    if (!quoted || strlen(quoted) > DIRECTORY_BYTES_MAX ||
        asprintf(&command, "%sosprof attach %s", geteuid() == 0 ? "" : "sudo ", quoted) < 0)
        return NULL;
    return command;
}

/* Asks no daemon or server. */
const char *run_report_attachable(const struct option_list *directories) {
    const char *directory = directories->count == 0 ? "." : directories->texts[0];
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    dev_t device;
    if (directories->count > 1 || mounts_device_at(directory, &device) < 0)
        return NULL;
    mounts_open(&table);
    /* Not found: of a subvolume. */
    return mounts_of_device(&table, device, &entry) && mounts_is_pseudo(entry.type) ? NULL : directory;
}

/* Shows a layer. Groups have tables if they were asked for. is_only: the run has no other; again: see name_again() */
static int show(const struct run_mounts *mounts, size_t directory, const struct run_shown *shown,
                const struct aggstats_profile *layer, bool is_only, const char *again) {
    const struct input input = {.profile = *layer};
    const char *name = aggstats_profile_label(layer, "layer");
    const bool is_of_mount = name && strcmp(name, "fs") == 0;
    const bool has_name = !is_only && name;
    const struct option_list *directories = &shown->options->directories;
    CLEANUP_FREE char *how_all = NULL;
    CLEANUP_FREE char *attach = format_attach(shown->attach, layer);
    if (again && asprintf(&how_all, "'osprof show%s%s --by all%s%s' lists all", has_name ? " --layer " : "",
                          has_name ? name : "", again[0] ? " " : "", again) < 0)
        how_all = NULL;
    struct show_options options = {
        .charts = shown->options->charts,
        .joint = layer->joint_count > 0 && is_of_mount,
        .lines_max = lines_of_page(mounts, shown),
        .group_rows_max = GROUP_ROWS_MAX,
        .how_all_groups = how_all ? how_all : "-o FILE keeps them",
        .source = {.profile = again,
                   .layer = is_only ? NULL : name,
                   .is_run = true,
                   .has_groups_unasked =
                       is_of_mount ? mounts->options.has_groups_unasked : shown->options->recorded.has_groups_unasked,
                   .has_groups_asked = !shown->options->recorded.has_groups_unasked,
                   .directory = is_of_mount                          ? mounts->daemons[directory].name
                                : is_only && directories->count == 1 ? directories->texts[0]
                                                                     : NULL,
                   .has_mount = is_of_mount,
                   .can_see_faults = collector_counts(COLLECTOR_FAULTS),
                   .attach = attach},
    };
    int error = run_report_open(&options.stream);
    if (error)
        return error;
    error = options.source.has_groups_unasked || options.lines_max > 0 ? show_page(&input, &options)
                                                                       : show_all(&input, &options);
    return fclose(options.stream) != 0 && error == 0 ? negative_errno() : error;
}

/* Shows the table of all layers, if there are several, and each if there is one or all was asked for. */
static void show_layers(const struct run_mounts *mounts, size_t directory, const struct run_shown *shown,
                        const struct recording *recording, const char *again) {
    const bool are_several = recording->count > 1;
    const struct layers_page page = {
        .recording = recording, .name = again, .row_max = LAYERS_ROWS_MAX, .lines_max = lines_of_page(mounts, shown)};
    FILE *stream;
    int error = are_several ? run_report_open(&stream) : 0;
    if (are_several && error == 0) {
        const struct screen screen = screen_of(stream);
        error = layers_page_print(&page, &screen);
        if (fclose(stream) != 0 && error == 0)
            error = negative_errno();
    }
    for (size_t i = 0;
         i < recording->count && error == 0 && (!are_several || shown->options->is_verbose || shown->options->charts);
         i++)
        error = show(mounts, directory == RUN_TARGET_COMMON ? 0 : directory, shown, &recording->layers[i],
                     recording->count == 1, again);
    if (error)
        run_report_not_shown("profile", error);
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

static int report_layers(struct run_mounts *mounts, struct recording *layers, const struct run_target *target,
                         struct kept *kept, size_t directory, const struct run_shown *shown) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = 0;
    for (size_t i = 0; i < layers->count && error == 0; i++) {
        error = run_report_describe(&layers->layers[i], shown->options->command, shown->run_count, &shown->exit);
        if (error == 0 && shown->still_running[0])
            error = aggstats_profile_add_label(&layers->layers[i], "still_running", shown->still_running);
        else if (error == 0) /* what is left may be what is at the disk */
            error = run_neighbours_add(shown->neighbours, &layers->layers[i]);
    }
    if (error)
        run_report_not_shown("profile", error);
    if (error || layers->count == 0)
        return error;
    const int format_error = recording_format(layers, &text, &size_bytes);
    if (format_error)
        kept->error = format_error;
    else
        kept_save(kept, target->count == 1 || directory == RUN_TARGET_COMMON ? 0 : directory + 1, text, size_bytes);
    CLEANUP_FREE char *kept_name = kept_name_of(target, directory, kept);
    if (target->given)
        error = save(target, directory, 0, layers, kept_name);
    CLEANUP_FREE char *again = name_again(target, directory, kept, error == 0);
    if (shown->options->json) {
        const int json_error =
            layers->count > 1 ? layers_page_write_json(layers, stdout) : advice_json_write(&layers->layers[0], stdout);
        if (json_error)
            run_report_not_shown("JSON", json_error);
        error = error ? error : json_error;
    } else if (!shown->options->is_quiet &&
               (directory == RUN_TARGET_COMMON || directory < PAGES_MAX || shown->options->is_verbose))
        show_layers(mounts, directory, shown, layers, again);
    return error;
}

/* The page about all layers. */
static int save_page(const struct run_target *page, const struct recording *layers, const struct run_target *target,
                     const struct kept *kept, bool is_written) {
    const struct input input = {.profile = layers->count == 1 ? layers->layers[0] : (struct aggstats_profile){0},
                                .layers = layers->count == 1 ? (struct recording){0} : *layers};
    CLEANUP_FREE char *name = name_again(target, 0, kept, is_written);
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

int run_report(struct run_mounts *mounts, struct recording *layers, const struct run_target *target,
               const struct run_target *page, struct kept *kept, const struct run_shown *shown) {
    const struct run_programs unknown = {.are_known = false};
    bool is_one = mounts->count <= 1;
    int first_error = mounts->count == 1 ? take_mount(mounts, 0, &shown->programs, layers) : 0;
    int error = report_layers(mounts, layers, target, kept, is_one ? 0 : RUN_TARGET_COMMON, shown);
    first_error = first_error ? first_error : error;
    error = save_page(page, layers, target, kept, error == 0);
    first_error = first_error ? first_error : error;
    for (size_t i = 0; !is_one && i < mounts->count; i++) { /* independently of the others */
        struct recording of_mount = {.layers = NULL};
        error = take_mount(mounts, i, &unknown, &of_mount);
        if (error == 0)
            error = report_layers(mounts, &of_mount, target, kept, i, shown);
        recording_finish(&of_mount);
        first_error = first_error ? first_error : error;
    }
    if (mounts->count <= PAGES_MAX || shown->options->is_verbose || shown->options->is_quiet)
        return first_error;
    const size_t count = mounts->count - PAGES_MAX; /* those on no page */
    CLEANUP_FREE char *again = name_again(target, PAGES_MAX, kept, first_error == 0);
    if (again)
        complain("%zu more director%s: 'osprof show %s'%s", count, count == 1 ? "y" : "ies", again,
                 count == 1 ? "" : " and so on");
    return first_error;
}

/* ---- Directories for the profile of each run ------------------------------------------------- */

static int check_empty(int fd) {
    CLEANUP_DIR DIR *dir = open_dir_at(fd, ".");
    if (!dir)
        return negative_errno();
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return -ENOTEMPTY;
    return 0;
}

/* A directory that another user has made is not trusted. */
static int open_directory(int parent_fd, const char *name, int *ret_fd) {
    struct stat attr;
    bool is_new = mkdirat(parent_fd, name, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return negative_errno();
    *ret_fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_fd < 0 || fstat(*ret_fd, &attr) < 0)
        return negative_errno();
    if (attr.st_uid != geteuid())
        return -EPERM;
    return is_new ? 0 : check_empty(*ret_fd);
}

static int open_directories(struct run_sets *sets) {
    CLEANUP_FREE char *path = strdup(sets->given);
    const char *name;
    sets->names = calloc(sets->count, sizeof(*sets->names));
    sets->fds = calloc(sets->count, sizeof(*sets->fds));
    if (!path || !sets->names || !sets->fds)
        return -ENOMEM;
    for (size_t i = 0; i < sets->count; i++)
        sets->fds[i] = -1;
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    int err = open_parent(AT_FDCWD, path, &sets->parent_fd, &name);
    for (size_t i = 0; !err && i < sets->count; i++) {
        char number[24] = "";
        if (sets->count > 1)
            snprintf(number, sizeof(number), ".%zu", i + 1);
        if (asprintf(&sets->names[i], "%s%s", name, number) < 0) {
            sets->names[i] = NULL;
            return -ENOMEM;
        }
        err = open_directory(sets->parent_fd, sets->names[i], &sets->fds[i]);
    }
    return err;
}

int run_sets_open(struct run_sets *ret_sets, const char *given, size_t count) {
    *ret_sets = (struct run_sets){.given = given, .count = count, .parent_fd = -1};
    int err = given ? open_directories(ret_sets) : 0;
    if (err == -ENOTEMPTY)
        complain("cannot keep profiles in %s: it is not empty; name a new directory", given);
    else if (err)
        complain("cannot keep profiles in %s: %s", given, strerror(-err));
    return err;
}

void run_sets_finish(struct run_sets *sets) {
    for (size_t i = 0; sets->names && sets->fds && i < sets->count; i++) {
        if (sets->fds[i] >= 0 && check_empty(sets->fds[i]) == 0)
            unlinkat(sets->parent_fd, sets->names[i], AT_REMOVEDIR);
        close_fd(&sets->fds[i]);
        free(sets->names[i]);
    }
    free(sets->names);
    free(sets->fds);
    close_fd(&sets->parent_fd);
}

int run_sets_save(const struct run_sets *sets, size_t directory, size_t side, size_t run,
                  const struct aggstats_profile *profile) {
    char name[32];
    CLEANUP_FREE char *shown = NULL;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    snprintf(name, sizeof(name), "%c-%02zu.osprof", side == 0 ? 'a' : 'b', run);
    int err = aggstats_profile_format(profile, &text, &size_bytes);
    if (!err)
        err = replace_file(sets->fds[directory], name, NULL, output_mode(profile), text, size_bytes);
    if (err) {
        shown = path_join(sets->given, name);
        report_not_written(shown ? shown : name, err, NULL, text);
    }
    return err;
}
