/* osprof run: a command with directories profiled, in one line. The directories are covered by mounts that only the
 * command sees, so that neither privilege nor set-up is needed and nothing is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "namespace.h"
#include "output.h"
#include "run_child.h"
#include "run_mounts.h"
#include "run_report.h"
#include "run_signals.h"
#include "run_vs.h"

#define RUNS_MAX 1000000

struct run_options {
    const char **directories;
    size_t directory_count;
    char *osproffs_options; /* commas between; NULL: none */
    const char *profile;    /* NULL: shown on standard error */
    unsigned warmup_count;
    unsigned repeat_count;
    const char *other; /* to compare with; NULL: none */
    const char *const *command;
};

/* What one use of osprof run has and has done. */
struct run {
    const struct run_options *options;
    struct namespace space;
    struct run_signals signals;
    struct run_mounts mounts;
    struct run_target target;
    int status;          /* of the first run that failed */
    unsigned runs_count; /* that were counted */
};

/* ---- Running ------------------------------------------------------------------------------------ */

/* Said now and in one way, before libfuse says it in another. */
static int check_device(void) {
    CLEANUP_FD int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        return 0;
    int error = negative_errno();
    if (error == -ENOENT || error == -ENODEV)
        complain("cannot mount: there is no /dev/fuse; as root, modprobe fuse; a container must be given it (--device "
                 "/dev/fuse)");
    else if (error == -EACCES)
        complain("cannot mount: /dev/fuse is not for this user; as root, chmod 666 /dev/fuse");
    else
        complain("cannot mount: /dev/fuse cannot be opened: %s; a container must be given it (--device /dev/fuse)",
                 strerror(-error));
    return error;
}

/* Until all runs are done, one is ended by a signal, or none can be made. */
static int run_all(struct run *run) {
    const struct run_options *options = run->options;
    for (unsigned i = 0; i < options->warmup_count + options->repeat_count; i++) {
        struct run_outcome outcome;
        if (i == 0 || i == options->warmup_count) {
            run_mounts_settle(&run->mounts);
            if (run_mounts_reset(&run->mounts) < 0)
                return -EIO;
        }
        int error = run_child(options->command, &run->space, &run->signals, &run->mounts, &outcome);
        if (error) {
            complain("cannot start a process: %s", strerror(-error));
            return error;
        }
        if (run->status == 0)
            run->status = outcome.status;
        if (!outcome.is_started)
            return -ENOEXEC;
        run->runs_count += i >= options->warmup_count;
        if (outcome.is_killed)
            break;
    }
    return 0;
}

/* Returns an exit status. */
static int run_mounted(struct run *run) {
    int signal = 0;
    int error = run_mounts_start(&run->mounts, &run->signals, &signal);
    bool is_mounted = error == 0;
    if (is_mounted)
        error = run_all(run);
    if (error == 0)
        run_mounts_settle(&run->mounts);
    run_mounts_end(&run->mounts, &run->signals);
    if (error == -EINTR && !is_mounted)
        return RUN_SIGNALLED + signal;
    if (error == -ENOEXEC)
        return run->status;
    if (error)
        return RUN_FAILED;
    error = run_report(&run->mounts, &run->target, run->options->command, run->runs_count);
    return error ? RUN_FAILED : run->status;
}

/* Returns an exit status. */
static int run_against_other(struct run *run) {
    const struct run_vs vs = {
        .other = run->options->other,
        .command = run->options->command,
        .warmup_count = run->options->warmup_count,
        .repeat_count = run->options->repeat_count,
        .mounts = &run->mounts,
        .space = &run->space,
        .signals = &run->signals,
        .target = &run->target,
    };
    return run_vs(&vs);
}

static int run_in_namespace(struct run *run) {
    int error = run_signals_init(&run->signals);
    if (error) {
        complain("cannot take signals: %s", strerror(-error));
        return RUN_FAILED;
    }
    int status = RUN_FAILED;
    if (namespace_enter(&run->space) == 0 && run_mounts_enter(&run->mounts) == 0)
        status = run->options->other ? run_against_other(run) : run_mounted(run);
    run_signals_finish(&run->signals);
    return status;
}

/* Standard files that were closed stay so for the command, but nothing that is opened here takes their place; and
 * writing to them fails. */
static void reserve_standard_files(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close_fd(&fd);
}

static int run(const struct run_options *options) {
    struct run run = {.options = options, .target = {.stream_fd = -1, .dir_fd = -1}};
    reserve_standard_files();
    int error = check_device();
    if (error == 0)
        error = run_mounts_open(&run.mounts, options->directories, options->directory_count, options->osproffs_options);
    if (error == 0)
        error = run_target_open(&run.target, options->profile, options->directory_count, options->other ? VS_SIDES : 1);
    int status = error ? RUN_FAILED : run_in_namespace(&run);
    run_target_finish(&run.target);
    run_mounts_finish(&run.mounts);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

enum { OPTION_REPEAT = 256, OPTION_WARMUP, OPTION_VS };

static const struct option long_options[] = {
    {"directory", required_argument, NULL, 'd'},
    {"options", required_argument, NULL, 'o'},
    {"profile", required_argument, NULL, 'p'},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"warmup", required_argument, NULL, OPTION_WARMUP},
    {"vs", required_argument, NULL, OPTION_VS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool parse_count(const char *text, unsigned min, unsigned *ret_count) {
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || count < min || count > RUNS_MAX)
        return false;
    *ret_count = (unsigned)count;
    return true;
}

/* Several lists for -o are one. */
static enum status add_osproffs_options(const struct command *command, struct run_options *options, const char *list) {
    CLEANUP_FREE char *before = options->osproffs_options;
    options->osproffs_options = NULL;
    if (asprintf(&options->osproffs_options, "%s%s%s", before ? before : "", before ? "," : "", list) >= 0)
        return STATUS_OK;
    options->osproffs_options = NULL;
    return usage_error(command, "no memory");
}

static enum status take_option(const struct command *command, int option, char **argv, struct run_options *options) {
    switch (option) {
    case 'd':
        options->directories[options->directory_count++] = optarg;
        return STATUS_OK;
    case 'o':
        return add_osproffs_options(command, options, optarg);
    case 'p':
        options->profile = optarg;
        return STATUS_OK;
    case OPTION_REPEAT:
        if (parse_count(optarg, 1, &options->repeat_count))
            return STATUS_OK;
        return usage_error(command, "--repeat must be a number from 1 to %d, not '%s'", RUNS_MAX, optarg);
    case OPTION_WARMUP:
        if (parse_count(optarg, 0, &options->warmup_count))
            return STATUS_OK;
        return usage_error(command, "--warmup must be a number from 0 to %d, not '%s'", RUNS_MAX, optarg);
    case OPTION_VS:
        if (options->other)
            return usage_error(command, "--vs can be given once");
        options->other = optarg;
        if (optarg[strspn(optarg, " \t\n")] == '\0')
            return usage_error(command, "--vs needs a command");
        return STATUS_OK;
    default:
        return option_error(command, option, argv, long_options);
    }
}

/* What follows the options is the command, whatever it looks like. */
static enum status settle_options(const struct command *command, int argc, char **argv, struct run_options *options) {
    if (optind >= argc)
        return usage_error(command, "no command given");
    options->command = (const char *const *)(argv + optind);
    if (options->directory_count == 0)
        options->directories[options->directory_count++] = ".";
    size_t profile_count = options->directory_count * (options->other ? VS_SIDES : 1);
    if (options->profile && output_is_stdout(options->profile) && profile_count > 1)
        return usage_error(command, "standard output takes one profile, not %zu", profile_count);
    return STATUS_OK;
}

static enum status run_run(const struct command *command, int argc, char **argv) {
    CLEANUP_FREE const char **directories = calloc((size_t)argc + 1, sizeof(*directories));
    struct run_options options = {.directories = directories, .repeat_count = 1};
    enum status status = STATUS_OK;
    int option;
    if (!directories) {
        complain("no memory");
        return (enum status)RUN_FAILED;
    }
    while (status == STATUS_OK && (option = getopt_long(argc, argv, "+:hd:o:p:", long_options, NULL)) != -1) {
        if (option == 'h') {
            command_print_help(command);
            free(options.osproffs_options);
            return STATUS_OK;
        }
        status = take_option(command, option, argv, &options);
    }
    if (status == STATUS_OK)
        status = settle_options(command, argc, argv, &options);
    int exit_status = status == STATUS_OK ? run(&options) : RUN_FAILED;
    free(options.osproffs_options);
    return (enum status)exit_status;
}

const struct command command_run = {
    .name = "run",
    .summary = "runs a command and profiles directories for it alone",
    .arguments = "[-d DIR]... [-o LIST] [-p FILE] [--repeat N] [--warmup N] [--vs OTHER]\n"
                 "                  [--] COMMAND [ARGUMENT]...",
    .help = "Runs COMMAND, and only for it and what it starts mounts an osproffs over each DIR, in\n"
            "place. When COMMAND ends, prints the profile on standard error as 'osprof show' does.\n"
            "Needs no privilege where user namespaces are allowed and /dev/fuse is for everybody.\n\n"
            "  -d, --directory DIR  profile DIR; may be repeated; default: the current directory\n"
            "  -o, --options LIST   options for osproffs, such as cache=none,resolution=4\n"
            "  -p, --profile FILE   write the profile to FILE instead, - is standard output; of\n"
            "                       several DIRs to FILE.1, FILE.2 and so on\n"
            "  --repeat N           run COMMAND N times, and sum them up\n"
            "  --warmup N           run it N times before, which is not in the profile\n"
            "  --vs OTHER           compare with OTHER, a command for the shell: run both in turn, OTHER\n"
            "                       first, and print what 'osprof compare' prints of their profiles, OTHER\n"
            "                       being A; -p writes FILE.a and FILE.b, or FILE.1.a and so on\n\n"
            "Exit status: that of COMMAND, 128+n if signal n killed it; of several runs the first that\n"
            "is not 0; OTHER's is only told of. 125 if osprof failed, 126 if COMMAND cannot be\n"
            "executed, 127 if it is not found.\n",
    .run = run_run,
};
