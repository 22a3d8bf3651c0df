/* Profiles of a run, with what was run in their headers. */
#include "run_report.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "command.h"
#include "output.h"
#include "show.h"

#define COMMAND_BYTES_MAX 1024 /* of the header line */
#define GROUP_ROWS_MAX 18      /* a table of them fits a screen of 24 lines, with what is said of it */

/* ---- The target --------------------------------------------------------------------------------- */

/* The name of one profile in the target's directory. Owner: the caller frees it. Returns NULL without memory */
static char *name_of(const struct run_target *target, size_t directory, size_t side) {
    char number[24] = "";
    char *name;
    if (target->count > 1)
        snprintf(number, sizeof(number), ".%zu", directory + 1);
    const char *letter = target->side_count == 1 ? "" : side == 0 ? ".a" : ".b";
    return asprintf(&name, "%s%s%s", target->name, number, letter) < 0 ? NULL : name;
}

/* What is there already and cannot be replaced by a file. */
static int check_names(const struct run_target *target) {
    for (size_t i = 0; i < target->count * target->side_count; i++) {
        struct stat attr;
        CLEANUP_FREE char *name = name_of(target, i / target->side_count, i % target->side_count);
        if (!name)
            return -ENOMEM;
        if (fstatat(target->dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(attr.st_mode))
            return S_ISDIR(attr.st_mode) ? -EISDIR : -ENOTSUP;
    }
    return 0;
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

/* A fifo without a reader is an error now, not a wait; once open, writes may wait as usual. */
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

int run_target_open(struct run_target *ret_target, const char *given, size_t count, size_t side_count) {
    *ret_target =
        (struct run_target){.given = given, .stream_fd = -1, .dir_fd = -1, .count = count, .side_count = side_count};
    int error = given && !output_is_stdout(given) ? open_target(ret_target, given) : 0;
    if (error)
        complain("cannot write profile %s: %s", given, strerror(-error));
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

/* One line, cut where it gets too long; what a line cannot hold is a question mark. */
static void format_command(const char *const *command, char ret_text[COMMAND_BYTES_MAX]) {
    size_t length = 0;
    ret_text[0] = '\0';
    for (const char *const *argument = command; *argument && length < COMMAND_BYTES_MAX - 1; argument++) {
        int written = snprintf(ret_text + length, COMMAND_BYTES_MAX - length, "%s%s", length > 0 ? " " : "", *argument);
        length += written > 0 ? (size_t)written : 0;
    }
    if (length >= COMMAND_BYTES_MAX)
        memcpy(ret_text + COMMAND_BYTES_MAX - 4, "...", 4);
    for (char *at = ret_text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

int run_report_describe(struct aggstats_profile *profile, const char *const *command, unsigned run_count) {
    char text[COMMAND_BYTES_MAX];
    format_command(command, text);
    int error = aggstats_profile_add_label(profile, "command", text);
    if (error || run_count == 1)
        return error;
    snprintf(text, sizeof(text), "%u", run_count);
    return aggstats_profile_add_label(profile, "runs", text);
}

/* ---- Reporting ---------------------------------------------------------------------------------- */

void run_report_not_written(const char *name, int error, const char *text) {
    complain("cannot write profile %s: %s%s", name, strerror(-error), text ? "; it follows" : "");
    if (text)
        fputs(text, stderr);
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

int run_target_save(const struct run_target *target, size_t directory, size_t side,
                    const struct aggstats_profile *profile) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = aggstats_profile_format(profile, &text, &size_bytes);
    if (error == 0)
        error = write_to_target(target, directory, side, output_mode(profile), text, size_bytes);
    if (error)
        run_report_not_written(target->given, error, text);
    return error;
}

static int show(const struct run_mounts *mounts, size_t index, const struct run_shown *shown,
                const struct input *input) {
    struct show_options options = {
        .charts = shown->charts,
        .joint = input->profile.joint_count > 0,
        .group_rows_max = GROUP_ROWS_MAX,
        .how_all_groups = "with -p FILE the profile is kept, and 'osprof show --by all FILE' lists all",
        .source = {.directory = mounts->daemons[index].name,
                   .options = mounts->options.given,
                   .has_groups_unasked = mounts->options.has_groups_unasked,
                   .command = shown->command},
    };
    int error = run_report_open(&options.stream);
    if (error)
        return error;
    error = options.source.has_groups_unasked ? show_page(input, &options) : show_all(input, &options);
    return fclose(options.stream) != 0 && error == 0 ? negative_errno() : error;
}

static int show_or_save(const struct run_mounts *mounts, const struct run_target *target, size_t index,
                        const struct run_shown *shown, const struct input *input) {
    if (target->given)
        return run_target_save(target, index, 0, &input->profile);
    int error = show(mounts, index, shown, input);
    if (error)
        complain("cannot show the profile of %s: %s", mounts->daemons[index].name, strerror(-error));
    return error;
}

static int report_one(struct run_mounts *mounts, const struct run_target *target, size_t index,
                      const struct run_shown *shown) {
    struct run_daemon *daemon = &mounts->daemons[index];
    struct input input = {0};
    int error = run_daemon_profile(daemon, &mounts->options, &input);
    if (error)
        return error;
    error = run_report_describe(&input.profile, shown->command, shown->run_count);
    if (error)
        complain("cannot show the profile of %s: %s", daemon->name, strerror(-error));
    else
        error = show_or_save(mounts, target, index, shown, &input);
    input_finish(&input);
    return error;
}

int run_report(struct run_mounts *mounts, const struct run_target *target, const struct run_shown *shown) {
    int first_error = 0;
    for (size_t i = 0; i < mounts->count; i++) {
        int error = report_one(mounts, target, i, shown);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

static int show_user(const struct run_user *user, const struct run_shown *shown) {
    struct input input = {.profile = user->profile};
    struct show_options options = {.charts = shown->charts};
    int error = run_report_open(&options.stream);
    if (error)
        return error;
    error = show_page(&input, &options);
    return fclose(options.stream) != 0 && error == 0 ? negative_errno() : error;
}

int run_report_user(struct run_user *user, const struct run_target *target, const struct run_shown *shown) {
    int error = run_report_describe(&user->profile, shown->command, shown->run_count);
    if (error == 0 && target->given)
        return run_target_save(target, 0, 0, &user->profile);
    if (error == 0)
        error = show_user(user, shown);
    if (error)
        complain("cannot show the profile of the layer user: %s", strerror(-error));
    return error;
}
