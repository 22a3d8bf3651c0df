/* osprof serve: the metrics of mounts, for Prometheus to scrape. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base.h"
#include "command.h"
#include "kept.h"
#include "option_table.h"
#include "serve_address.h"
#include "serve_headers.h"
#include "serve_http.h"

struct serve_command {
    const char *listen;
    struct option_list names;
    bool has_why;
};

static const struct option_row rows[] = {
    {.name = "listen",
     .metavar = "WHERE",
     .help = "where to listen: ADDRESS:PORT, [ADDRESS]:PORT for IPv6, or the path of a socket that only you can open; "
             "default: " SERVE_DEFAULT_ADDRESS ", which is for this machine only",
     INTO(TEXT, struct serve_command, listen)},
    {.name = "name",
     .metavar = "NAME",
     .help = "a name of this machine that clients may ask for, besides localhost and the host's own; may be repeated",
     INTO(TEXTS, struct serve_command, names)},
    {.name = "why",
     .help = "what threads of this machine wait for, too, by cause and program; takes root",
     INTO(FLAG, struct serve_command, has_why)},
    ROW_MOUNT_ARGUMENTS(FILE, "[MOUNT|FILE]..."),
    {.kind = OPTION_END},
};

/* Makes the signals that end serving readable from a descriptor.
 * Errors: -errno */
static int open_signals(int *ret_fd) {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    signal(SIGPIPE, SIG_IGN); /* clients may disconnect */
    if (sigprocmask(SIG_BLOCK, &ending, NULL) < 0)
        return negative_errno();
    *ret_fd = signalfd(-1, &ending, SFD_CLOEXEC);
    return *ret_fd < 0 ? negative_errno() : 0;
}

static int serve_at(struct serve_source *source, struct serve_why *why, const struct serve_address *address,
                    const struct option_list *names) {
    const bool is_network = address->socket_address.any.sa_family != AF_UNIX;
    struct serve_http http = {.source = source, .why = why, .names = names, .checks_host = is_network};
    struct serve_listener listener;
    CLEANUP_FD int signal_fd = -1;
    int error = open_signals(&signal_fd);
    if (error) {
        complain("cannot wait for signals: %s", strerror(-error));
        return error;
    }
    error = serve_listener_open(address, &listener);
    if (error)
        return error;
    puts(listener.url); /* tells the parent process that requests are served now, and where */
    error = fflush(stdout) == 0 ? 0 : negative_errno(); /* main() reports errors, as for all output */
    http.listen_fd = listener.fd;
    if (!error)
        error = serve_http_run(&http, signal_fd);
    serve_listener_finish(&listener);
    return error;
}

static enum status serve(const struct arguments *arguments, const struct serve_address *address,
                         const struct serve_command *options) {
    CLEANUP_FREE struct serve_why *why = calloc(1, sizeof(*why));
    struct serve_source source;
    int error = why ? serve_source_init(&source, arguments->rest, (size_t)arguments->rest_count) : -ENOMEM;
    if (error) {
        complain("cannot serve: %s", strerror(-error));
        return STATUS_TROUBLE;
    }
    if (options->has_why)
        error = serve_why_start(why);
    if (!error) {
        error = serve_at(&source, options->has_why ? why : NULL, address, &options->names);
        if (options->has_why)
            serve_why_finish(why);
    }
    serve_source_finish(&source);
    return error ? STATUS_TROUBLE : STATUS_OK;
}

static enum status check_and_serve(const struct command *command, const struct serve_command *options,
                                   const struct arguments *arguments) {
    struct serve_address address;
    if (!serve_address_parse(options->listen, &address))
        return usage_error(command,
                           "--listen must be a numeric ADDRESS:PORT such as 127.0.0.1:19435, [ADDRESS]:PORT or the "
                           "path of a socket, not '%s'",
                           options->listen);
    for (size_t i = 0; i < options->names.count; i++)
        if (!serve_host_name_is_valid(options->names.texts[i]))
            return usage_error(command, "--name must be the name of a host, without a port, not '%s'",
                               options->names.texts[i]);
    for (int i = 0; i < arguments->rest_count; i++) {
        const char *argument = arguments->rest[i];
        if (strcmp(argument, "-") == 0)
            return usage_error(command, "standard input cannot be served; give mount points or live files");
        if (kept_is_name(argument))
            return usage_error(command, "%s is the result of a run, which has ended; give mount points or live files",
                               argument);
    }
    if (!require_part(PART_SERVE, "serve"))
        return STATUS_TROUBLE;
    return serve(arguments, &address, options);
}

static enum status run_serve(const struct command *command, int argc, char **argv) {
    struct serve_command options = {.listen = SERVE_DEFAULT_ADDRESS};
    struct arguments arguments;
    enum status status;
    if (options_parse(command, argc, argv, &options, &arguments, &status))
        status = check_and_serve(command, &options, &arguments);
    option_list_finish(&options.names);
    return status;
}

const struct command command_serve = {
    .name = "serve",
    .summary = "serves the metrics of mounts over HTTP, for Prometheus",
    .help = "MOUNT is a mount point of osproffs, FILE a live file; without them all your mounts are served, those that "
            "there are at each scrape. It serves until it is told to end by SIGTERM or SIGINT.",
    .notes = "Metrics are at /metrics, as text or, if the client prefers that, as protobuf with native histograms. "
             "osprof_up tells which mounts are being recorded. Whoever can connect can read the names of mounts, "
             "labels, operations and their latencies; 127.0.0.1 is open to all users of this machine.",
    .options = rows,
    .run = run_serve,
};
