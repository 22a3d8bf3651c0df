/* Reading events files as a whole: they may grow or shrink meanwhile. Filters: parsing them, and matching calls. */
#include "events_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base.h"
#include "units.h"

#define TIME_MAX_NS UINT64_C(9000000000000000000)
#define READ_STEP_BYTES ((size_t)1 << 20)

struct contents {
    unsigned char *bytes;
    size_t size_bytes;
    size_t room_bytes;
};

/* A file of another type is not read to its end, which it may not have. There is room for all that is expected once it
 * is known that this is an events file. */
static int read_all(int fd, struct contents *contents) {
    struct stat attr;
    size_t expected_bytes = fstat(fd, &attr) == 0 && S_ISREG(attr.st_mode) ? (size_t)attr.st_size + 1 : 0;
    const size_t magic_bytes = strlen(EVENTS_MAGIC);
    while (contents->size_bytes < magic_bytes || memcmp(contents->bytes, EVENTS_MAGIC, magic_bytes) == 0) {
        bool is_more_expected = contents->size_bytes > 0 && contents->size_bytes < expected_bytes;
        size_t more_bytes = is_more_expected                              ? expected_bytes - contents->size_bytes
                            : contents->room_bytes > contents->size_bytes ? 1
                                                                          : READ_STEP_BYTES;
        if (contents->room_bytes - contents->size_bytes < more_bytes) {
            size_t room_bytes = contents->room_bytes + contents->room_bytes / 2 + more_bytes;
            unsigned char *grown = realloc(contents->bytes, room_bytes);
            if (!grown)
                return -ENOMEM;
            contents->bytes = grown;
            contents->room_bytes = room_bytes;
        }
        ssize_t more = read(fd, contents->bytes + contents->size_bytes, contents->room_bytes - contents->size_bytes);
        if (more == 0)
            return 0;
        if (more > 0)
            contents->size_bytes += (size_t)more;
        else if (errno != EINTR)
            return negative_errno();
    }
    return 0;
}

/* ---- What is missing ---- */

static void tell(const char *name, uint64_t count, const char *what) {
    char text[UNITS_TEXT_SIZE];
    units_format_count(count, text);
    if (count > 0)
        complain("%s: %s %s", name, text, what);
}

static void tell_losses(const struct events_input *input) {
    const struct events_file *file = input->file;
    const struct events_losses *losses = &file->losses;
    bool is_ring = file->flags & EVENTS_RING;
    uint64_t rest = losses->dropped;
    /* Events dropped because they could not be saved, by error; and the others, which came too fast. */
    for (size_t i = 0; i < file->failure_count; i++) {
        const struct events_failure *failure = &file->failures[i];
        const uint64_t dropped = failure->dropped < rest ? failure->dropped : rest;
        char what[256];
        snprintf(what, sizeof(what), "calls are not in it: it could not be written: %s", strerror((int)failure->error));
        tell(input->name, dropped, failure->error ? what : "calls are not in it: it had reached its size");
        rest -= dropped;
    }
    tell(input->name, rest, "calls are not in it: they came faster than they could be written");
    tell(input->name, losses->missing,
         is_ring ? "calls are not in it: the ring was full of later ones" : "calls are missing in it");
    tell(input->name, losses->unreadable, "calls are in broken records, and are left out");
    tell(input->name, losses->disordered, "calls begin before the one before them has ended; what recorded them?");
    tell(input->name, losses->outside, "calls have impossible times: more than an hour before or after all else in it");
    tell(input->name, losses->cut_bytes, "bytes at its end are not whole, and are left out");
    tell(input->name, losses->lost,
         "parts of it are missing, such as marks, times and names: they could not be written");
    tell(input->name, losses->skipped, "parts of it are of an unknown kind, or broken, and are left out");
    if (losses->is_open)
        complain("%s: its end is missing: it is still being written, or osproffs was killed or could not write it",
                 input->name);
    if (losses->is_newer)
        complain("%s: a newer osproffs wrote it; what this one does not know is left out", input->name);
}

/* ---- Opening ---- */

/* begin: of the file, NUL-terminated; NULL: it could not be read */
static int complain_unread(const char *name, int err, const char *complaint, const char *begin) {
    if (complaint[0] && begin && (strncmp(begin, "# osprof ", 9) == 0 || strncmp(begin, "OSPROFLV", 8) == 0))
        complain("cannot read events %s: it is a profile: osprof show %s", name, name);
    else if (complaint[0])
        complain("cannot read events %s: %s", name, complaint);
    else
        complain("cannot read events %s: %s", name, strerror(-err));
    return err;
}

int events_input_open(const char *name, struct events_input *ret_input) {
    char complaint[EVENTS_COMPLAINT_SIZE] = "";
    struct contents contents = {0};
    struct events_input input = {.name = name};
    CLEANUP_FD int opened = -1;
    bool is_stdin = strcmp(name, "-") == 0;
    if (!is_stdin)
        opened = open(name, O_RDONLY | O_CLOEXEC);
    int err = is_stdin     ? read_all(STDIN_FILENO, &contents)
              : opened < 0 ? negative_errno()
                           : read_all(opened, &contents);
    if (err == 0)
        err = events_open(contents.bytes, contents.size_bytes, &input.file, complaint);
    if (err < 0 || !input.file) {
        char begin[16] = "";
        if (contents.size_bytes > 0)
            memcpy(begin, contents.bytes,
                   contents.size_bytes < sizeof(begin) - 1 ? contents.size_bytes : sizeof(begin) - 1);
        free(contents.bytes);
        return complain_unread(name, err, complaint, begin);
    }
    input.data = contents.bytes;
    tell_losses(&input);
    *ret_input = input;
    return 0;
}

void events_input_finish(struct events_input *input) {
    events_close(input->file);
    free(input->data);
    *input = (struct events_input){0};
}

/* ---- Times ---- */

const char *events_parse_threshold(const char *text, uint64_t *ret_ns) {
    const size_t digits = strspn(text, "0123456789.");
    if (digits > 0 && text[digits] == '\0')
        return "the unit is missing: such as 10ms, or 10s";
    return time_parse(text, 0, TIME_MAX_NS, ret_ns) ? NULL : "must be a time such as 10ms or 1.5s";
}

/* "2026-11-25T18:20:00.5Z"; a blank for the T, no seconds and no Z are accepted too. */
static bool parse_date(const char *text, int64_t *ret_ns) {
    struct tm tm = {0};
    int64_t fraction_ns = 0;
    const char *rest = strptime(text, "%Y-%m-%d", &tm);
    if (rest && (*rest == 'T' || *rest == ' '))
        rest = strptime(rest + 1, "%H:%M", &tm);
    if (rest && *rest == ':')
        rest = strptime(rest + 1, "%S", &tm);
    if (rest && *rest == '.') {
        size_t digits = strspn(rest + 1, "0123456789");
        fraction_ns = (int64_t)(strtod(rest, NULL) * NS_PER_S);
        rest += 1 + digits;
    }
    if (!rest || (strcmp(rest, "") != 0 && strcmp(rest, "Z") != 0))
        return false;
    *ret_ns = (int64_t)timegm(&tm) * NS_PER_S + fraction_ns;
    return true;
}

static int take_start(void *ret_cycles, const struct event *event) {
    *(uint64_t *)ret_cycles = event->start_cycles;
    return 1; /* the first is enough */
}

static int64_t beginning_of(const struct events_file *file) {
    uint64_t cycles = file->mark_count > 0 ? file->marks[0].mark.cycles : 0;
    if (file->mark_count == 0 && events_each(file, take_start, &cycles) != 1)
        return 0;
    return events_unix_ns(file, cycles);
}

static bool parse_when(const char *text, const struct events_file *file, int64_t *ret_ns) {
    uint64_t after_ns;
    int64_t begin_ns;
    if (text[0] != '+')
        return parse_date(text, ret_ns);
    begin_ns = beginning_of(file);
    return time_parse(text + 1, 0, TIME_MAX_NS, &after_ns) &&
           !__builtin_add_overflow(begin_ns, (int64_t)after_ns, ret_ns);
}

/* ---- Preparing ---- */

static enum status refuse_when(const struct command *command, const char *option, const char *text) {
    return usage_error(command, "--%s must be a time like 2026-11-25T18:20:00Z or +1.5s, not '%s'", option, text);
}

static enum status prepare(struct events_filter *filter, const struct command *command,
                           const struct events_file *file) {
    filter->file = file;
    filter->from_ns = INT64_MIN;
    filter->to_ns = INT64_MAX;
    if (filter->from && !parse_when(filter->from, file, &filter->from_ns))
        return refuse_when(command, "from", filter->from);
    if (filter->to && !parse_when(filter->to, file, &filter->to_ns))
        return refuse_when(command, "to", filter->to);
    double hz = file->clock_hz ? (double)file->clock_hz : NS_PER_S;
    filter->slow_cycles = (uint64_t)ceil((double)filter->slow_ns * hz / NS_PER_S);
    filter->wanted_count = 0;
    return STATUS_OK;
}

bool events_filter_is_set(const struct events_filter *filter) {
    return filter->ops.count > 0 || filter->paths.count > 0 || filter->slow_ns > 0 || filter->from || filter->to ||
           filter->pid > 0 || filter->failed;
}

/* ---- Calls ---- */

static bool fits_path(const char *wanted, const char *path) {
    size_t length = strlen(wanted);
    while (length > 0 && wanted[length - 1] == '/')
        length--;
    if (strncmp(path, wanted, length) == 0 && (path[length] == '\0' || path[length] == '/'))
        return true;
    return strpbrk(wanted, "*?[") && fnmatch(wanted, path, 0) == 0;
}

static bool has_wanted_path(const struct events_filter *filter, const struct event *event) {
    char path[EVENTS_PATH_SIZE];
    if (filter->paths.count == 0)
        return true;
    events_path_of(filter->file, event, path);
    for (size_t i = 0; i < filter->paths.count; i++)
        if (path[0] && fits_path(filter->paths.texts[i], path))
            return true;
    return false;
}

static bool wants(const struct events_filter *filter, const struct event *event) {
    struct events_text name;
    if (event->latency_cycles < filter->slow_cycles || (filter->failed && event->error == 0) ||
        !option_list_wants(&filter->ops, filter->file->ops[event->op].name))
        return false;
    if (filter->from || filter->to) {
        int64_t end_ns = events_unix_ns(filter->file, event->end_cycles);
        if (end_ns < filter->from_ns || end_ns >= filter->to_ns)
            return false;
    }
    if (filter->pid > 0 && events_thread_number(filter->file, event->thread) != filter->pid &&
        events_thread_number(filter->file, events_task(filter->file, event, &name)) != filter->pid)
        return false;
    return has_wanted_path(filter, event);
}

bool events_filter_wants(void *context, const struct event *event) {
    struct events_filter *filter = context;
    const bool is_wanted = wants(filter, event);
    filter->wanted_count += is_wanted;
    return is_wanted;
}

enum status events_complain_none(const struct events_input *input) {
    complain("no call in %s is as asked for", input->name);
    return STATUS_NOT_SO;
}

/* ---- Subcommands about selected calls ---- */

enum status events_work_run(const struct events_work *work, const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    struct events_input input = {0};
    if (!options_parse(command, argc, argv, work->options, &arguments, &status))
        return status;
    status = arguments.rest_count > 0 ? STATUS_OK : usage_error(command, "an events FILE is expected, or several");
    if (status == STATUS_OK && work->check)
        status = work->check(command, work->options);
    if (status == STATUS_OK && events_inputs_open(arguments.rest, (size_t)arguments.rest_count, &input) < 0)
        status = STATUS_TROUBLE;
    if (status == STATUS_OK && input.file) {
        int err = events_find_links(input.file);
        if (err < 0)
            complain_unread(input.name, err, "", NULL);
        status = err < 0 ? STATUS_TROUBLE : prepare(work->filter, command, input.file);
    }
    if (status == STATUS_OK)
        status = work->run(command, work->options, &input);
    events_input_finish(&input);
    option_list_finish(&work->filter->ops);
    option_list_finish(&work->filter->paths);
    return status;
}
