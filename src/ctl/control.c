/* The control file's grammar. Invariants:
 *   - A write is parsed whole into commands before the first of them is carried out.
 *   - A command is one row of the verbs table; nothing else knows its name.
 *   - User text in a reason is shortened and printable: reasons end up in logs. */
#include "control.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "aggstats/slow.h"
#include "aggstats/words.h"
#include "base.h"
#include "path.h"
#include "proc.h"

static const char blanks[] = " \t\v\f";

struct verb {
    const char *name;
    const char *argument; /* name of the rest of the line; NULL: there must be none */
    int (*apply)(const struct control *control, const char *argument);
    int (*apply_to)(const struct control *control,
                    const struct control_file *file); /* replaces the above, if the argument is a file */
    const char *(*refuse)(const struct control *control,
                          const char *argument); /* returns what is wrong with it, or NULL; may be missing */
    const char *(*failure)(int error); /* the reason of an error, for people; NULL: strerror()'s; may be missing */
};

struct command {
    const struct verb *verb;
    const char *argument; /* NULL if there is none; points into the copy of the write */
};

static int apply_reset(const struct control *control, const char *argument) {
    (void)argument;
    return aggstats_recorder_reset(control->recorder);
}

static int apply_pause(const struct control *control, const char *argument) {
    (void)argument;
    return aggstats_recorder_pause(control->recorder);
}

static int apply_resume(const struct control *control, const char *argument) {
    (void)argument;
    return aggstats_recorder_resume(control->recorder);
}

static int apply_dump(const struct control *control, const struct control_file *file) {
    return control->dump ? control->dump(control->dump_context, file) : -EOPNOTSUPP;
}

static const char *refuse_rotate(const struct control *control, const char *argument) {
    return argument || control->has_series ? NULL
                                           : "the file is missing: only mounts with -o rotate name their files; osprof "
                                             "save --rotate MOUNT -o FILE names one";
}

static const char *refuse_dump(const struct control *control, const char *argument) {
    return argument || !control->has_series
               ? NULL
               : "the file is missing: this mount saves a series (-o rotate); osprof save MOUNT -o FILE names one";
}

static int apply_rotate(const struct control *control, const struct control_file *file) {
    return control->rotate ? control->rotate(control->rotate_context, file) : -EOPNOTSUPP;
}

/* "off" is 0. */
static const char *read_interval(const char *argument, uint64_t *ret_ns) {
    *ret_ns = 0;
    if (!argument)
        return "the length is missing: a time, or off";
    return strcmp(argument, "off") == 0 ? NULL : control_parse_interval(argument, ret_ns);
}

static const char *refuse_interval(const struct control *control, const char *argument) {
    uint64_t ns;
    (void)control;
    return read_interval(argument, &ns);
}

static int apply_interval(const struct control *control, const char *argument) {
    uint64_t ns;
    read_interval(argument, &ns);
    return aggstats_recorder_set_interval(control->recorder, ns, control->intervals_max);
}

static const char *refuse_joint(const struct control *control, const char *argument) {
    if (!argument)
        return "the operation is missing, and its value, or off";
    return control->joint ? control->joint(control->joint_context, argument, false)
                          : "not possible here: only osproffs and osprof fuse relate latencies to values";
}

static int apply_joint(const struct control *control, const char *argument) {
    return control->joint(control->joint_context, argument, true) ? -ENOMEM : 0;
}

/* "off" is none. */
static const char *read_groups(const char *argument, struct control_groups *ret_groups) {
    *ret_groups = (struct control_groups){.groupings = 0};
    if (!argument)
        return "say of what, such as program+file, or off";
    return strcmp(argument, "off") == 0 ? NULL : control_parse_groups(argument, CONTROL_GROUPS_RULE("off"), ret_groups);
}

static const char *refuse_groups(const struct control *control, const char *argument) {
    struct control_groups groups;
    return control->groups ? read_groups(argument, &groups)
                           : "not while it runs: osprof attach and osprof fuse take --by when they start";
}

static const char *why_no_groups(int error) {
    return error == -EBUSY        ? "others are on; 'groups off' ends them, and forgets their calls"
           : error == -EOPNOTSUPP ? "nothing is recorded there (osproffs -o timing)"
                                  : NULL;
}

static int apply_groups(const struct control *control, const char *argument) {
    struct control_groups groups;
    read_groups(argument, &groups);
    return control->groups(control->groups_context, &groups);
}

static const char *refuse_slow(const struct control *control, const char *argument) {
    uint64_t ns;
    if (!argument)
        return "the time is missing, such as 10ms, or off";
    if (!control->slow)
        return "not while it runs: osprof attach takes --slow when it starts; mounts of osproffs and osprof fuse take "
               "this line";
    return control_parse_slow(argument, &ns);
}

static int apply_slow(const struct control *control, const char *argument) {
    uint64_t ns = 0;
    control_parse_slow(argument, &ns);
    return control->slow(control->slow_context, ns);
}

static const char *refuse_events(const struct control *control, const char *argument) {
    if (!argument)
        return "the file is missing, or off";
    return control->events ? NULL
                           : "not possible here: mounts of osproffs take this line, and osprof attach takes --events "
                             "when it starts";
}

static const char *why_not_saved(int error) {
    return error == -EINVAL ? "there is no place for a final profile; osprof save PLACE -o FILE names one" : NULL;
}

static const char *why_no_events(int error) {
    return error == -EOPNOTSUPP  ? "nothing is recorded there (osproffs -o timing)"
           : error == -EBUSY     ? "events go to another file already; 'events off' ends that"
           : error == -ENODATA   ? "no events are recorded"
           : error == -ETIMEDOUT ? "the file system that events are written to hangs"
                                 : NULL;
}

static const char *why_not_rotated(int error) {
    return error == -EBUSY       ? "the final profile goes there; name another file"
           : error == -ECANCELED ? "the mount is ending; its final profile has these calls"
           : error == -EEXIST    ? "the file is there already; name a new one"
                                 : NULL;
}

static int apply_events(const struct control *control, const struct control_file *file) {
    return control->events(control->events_context, file);
}

/* The first row is also the meaning of an empty line. */
static const struct verb verbs[] = {
    {.name = "reset", .argument = NULL, .apply = apply_reset},
    {.name = "0", .argument = NULL, .apply = apply_reset},
    {.name = "1", .argument = NULL, .apply = apply_reset},
    {.name = "pause", .argument = NULL, .apply = apply_pause},
    {.name = "resume", .argument = NULL, .apply = apply_resume},
    {.name = "dump", .argument = "FILE", .apply_to = apply_dump, .refuse = refuse_dump, .failure = why_not_saved},
    {.name = "rotate",
     .argument = "FILE",
     .apply_to = apply_rotate,
     .refuse = refuse_rotate,
     .failure = why_not_rotated},
    {.name = "interval", .argument = "TIME|off", .apply = apply_interval, .refuse = refuse_interval},
    {.name = "slow", .argument = "TIME|off", .apply = apply_slow, .refuse = refuse_slow},
    {.name = "events",
     .argument = "FILE|off",
     .apply_to = apply_events,
     .refuse = refuse_events,
     .failure = why_no_events},
    {.name = "groups",
     .argument = "KIND[+KIND...]|off",
     .apply = apply_groups,
     .refuse = refuse_groups,
     .failure = why_no_groups},
    {.name = "joint", .argument = "OP VALUE|off", .apply = apply_joint, .refuse = refuse_joint},
};

/* ---- Reasons ------------------------------------------------------------------------------------ */

#define PRINTABLE_SIZE 48

/* Text for a log line: printable ASCII only, cut with "..." if long. */
static void make_printable(const char *text, char ret_printable[PRINTABLE_SIZE]) {
    const size_t shown_max = PRINTABLE_SIZE - sizeof("...");
    size_t i = 0;
    for (; text[i] && i < shown_max; i++)
        ret_printable[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    snprintf(ret_printable + i, PRINTABLE_SIZE - i, "%s", text[i] ? "..." : "");
}

static int refuse_unknown(size_t line_number, const char *name, char ret_reason[CONTROL_REASON_SIZE]) {
    char found[PRINTABLE_SIZE];
    make_printable(name, found);
    int used =
        snprintf(ret_reason, CONTROL_REASON_SIZE, "line %zu: unknown command '%s'; accepted are", line_number, found);
    for (size_t i = 0; i < ARRAY_SIZE(verbs) && used < CONTROL_REASON_SIZE; i++) {
        const struct verb *verb = &verbs[i];
        used +=
            snprintf(ret_reason + used, CONTROL_REASON_SIZE - (size_t)used, "%s %s%s%s%s", i > 0 ? "," : "", verb->name,
                     verb->argument ? " [" : "", verb->argument ? verb->argument : "", verb->argument ? "]" : "");
    }
    return -EINVAL;
}

static int refuse_argument(size_t line_number, const struct verb *verb, const char *argument,
                           char ret_reason[CONTROL_REASON_SIZE]) {
    char found[PRINTABLE_SIZE];
    make_printable(argument, found);
    if (verb->argument)
        snprintf(ret_reason, CONTROL_REASON_SIZE, "line %zu: the %s of '%s' is longer than %d bytes: '%s'", line_number,
                 verb->argument, verb->name, PATH_MAX - 1, found);
    else
        snprintf(ret_reason, CONTROL_REASON_SIZE, "line %zu: '%s' takes no argument, found '%s'", line_number,
                 verb->name, found);
    return -EINVAL;
}

static int refuse_value(size_t line_number, const struct verb *verb, const char *argument, const char *why,
                        char ret_reason[CONTROL_REASON_SIZE]) {
    char found[PRINTABLE_SIZE];
    make_printable(argument ? argument : "", found);
    snprintf(ret_reason, CONTROL_REASON_SIZE, "line %zu: %s%s%s: %s", line_number, verb->name, argument ? " " : "",
             found, why);
    return -EINVAL;
}

static int refuse_file(size_t line_number, const struct verb *verb, char ret_reason[CONTROL_REASON_SIZE]) {
    snprintf(ret_reason, CONTROL_REASON_SIZE,
             "line %zu: %s with a file takes a process that sees the same directories; elsewhere use 'osprof %s'",
             line_number, verb->name,
             verb->apply_to == apply_events   ? "ctl PLACE events FILE"
             : verb->apply_to == apply_rotate ? "save --rotate PLACE -o FILE"
                                              : "save PLACE -o FILE");
    return -EACCES;
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

/* Cuts the blanks, and the CR of a CRLF, off both ends of a line. */
static char *trim(char *line) {
    line += strspn(line, blanks);
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\r')
        length--;
    while (length > 0 && strchr(blanks, line[length - 1]))
        length--;
    line[length] = '\0';
    return line;
}

/* The file that a command names, or NULL. */
static const char *named_file(const struct verb *verb, const char *argument) {
    return verb->apply_to && argument && strcmp(argument, "off") != 0 ? argument : NULL;
}

static int parse_line(const struct control *control, const struct control_asker *asker, char *line, size_t line_number,
                      struct command *ret_command, char ret_reason[CONTROL_REASON_SIZE]) {
    char *name = trim(line);
    if (*name == '\0') {
        *ret_command = (struct command){.verb = &verbs[0]};
        return 0;
    }
    char *argument = name + strcspn(name, blanks);
    if (*argument != '\0') {
        *argument++ = '\0';
        argument += strspn(argument, blanks);
    } else {
        argument = NULL;
    }
    const struct verb *verb = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(verbs) && !verb; i++)
        verb = strcmp(verbs[i].name, name) == 0 ? &verbs[i] : NULL;
    if (!verb)
        return refuse_unknown(line_number, name, ret_reason);
    if (argument && (!verb->argument || strlen(argument) >= PATH_MAX))
        return refuse_argument(line_number, verb, argument, ret_reason);
    const char *why = verb->refuse ? verb->refuse(control, argument) : NULL;
    if (why)
        return refuse_value(line_number, verb, argument, why, ret_reason);
    if (named_file(verb, argument) && asker->fd < 0 && !asker->has_our_paths)
        return refuse_file(line_number, verb, ret_reason);
    *ret_command = (struct command){.verb = verb, .argument = argument};
    return 0;
}

/* Counts the lines of a text. A last line without a newline counts. An empty text is one empty line. */
static size_t count_lines(const char *data, size_t size_bytes) {
    size_t count = size_bytes == 0 || data[size_bytes - 1] != '\n';
    for (size_t i = 0; i < size_bytes; i++)
        count += data[i] == '\n';
    return count;
}

/* Refuses writes that hold no command: too many bytes, or a NUL. */
static int check_bytes(const char *data, size_t size_bytes, char ret_reason[CONTROL_REASON_SIZE]) {
    if (size_bytes > CONTROL_WRITE_MAX) {
        snprintf(ret_reason, CONTROL_REASON_SIZE, "a write of %zu bytes is too long: at most %d bytes are accepted",
                 size_bytes, CONTROL_WRITE_MAX);
        return -EINVAL;
    }
    const char *nul = size_bytes > 0 ? memchr(data, '\0', size_bytes) : NULL;
    if (nul) {
        snprintf(ret_reason, CONTROL_REASON_SIZE, "line %zu: found a NUL byte; commands are plain text",
                 count_lines(data, (size_t)(nul - data) + 1));
        return -EINVAL;
    }
    return 0;
}

/* Parses `text` (which it cuts up) into commands[count], one a line. */
static int parse_text(const struct control *control, const struct control_asker *asker, char *text,
                      struct command *commands, size_t count, char ret_reason[CONTROL_REASON_SIZE]) {
    char *rest = text;
    for (size_t i = 0; i < count; i++) {
        char *line = strsep(&rest, "\n");
        int error = parse_line(control, asker, line, i + 1, &commands[i], ret_reason);
        if (error)
            return error;
    }
    return 0;
}

/* A command about a file, carried out with the rights of the asker. */
struct file_command {
    const struct control *control;
    const struct verb *verb;
    struct control_file file;
};

static int apply_file_command(void *data) {
    const struct file_command *command = data;
    return command->verb->apply_to(command->control, &command->file);
}

/* A profile in the default place is saved by this process. */
static int apply_to_file(const struct control *control, const struct control_asker *asker,
                         const struct command *command) {
    const char *name = named_file(command->verb, command->argument);
    struct file_command about = {.control = control, .verb = command->verb, .file = {.name = name, .fd = -1}};
    if (!name)
        return apply_file_command(&about);
    about.file.fd = asker->fd;
    about.file.give_name = asker->give_name;
    about.file.context = asker->context;
    return asker->act ? asker->act(asker->context, apply_file_command, &about) : apply_file_command(&about);
}

static int apply_all(const struct control *control, const struct control_asker *asker, const struct command *commands,
                     size_t count, char ret_reason[CONTROL_REASON_SIZE]) {
    for (size_t i = 0; i < count; i++) {
        const struct verb *verb = commands[i].verb;
        const char *argument = commands[i].argument;
        assert(verb); /* parsing has filled them all */
        int error = verb->apply_to ? apply_to_file(control, asker, &commands[i]) : verb->apply(control, argument);
        if (error == 0)
            continue;
        char shown[PRINTABLE_SIZE];
        make_printable(argument ? argument : "", shown);
        const char *why = verb->failure ? verb->failure(error) : NULL;
        snprintf(ret_reason, CONTROL_REASON_SIZE, "line %zu: %s%s%s failed: %s", i + 1, verb->name, argument ? " " : "",
                 shown, why ? why : strerror(-error));
        return error;
    }
    return 0;
}

/* ---- Values ------------------------------------------------------------------------------------- */

const char *control_parse_interval(const char *text, uint64_t *ret_ns) {
    return time_parse(text, AGGSTATS_INTERVAL_MIN_NS, AGGSTATS_INTERVAL_MAX_NS, ret_ns) ? NULL : AGGSTATS_INTERVAL_RULE;
}

#define DEPTH_MAX 64

static const char depth_rule[] = "the depth must be a number from 1 to 64, such as directory:2";

/* word: "directory:2"; is cut up */
static const char *parse_group(char *word, const char *rule, struct control_groups *groups) {
    char *depth = strchr(word, ':');
    if (depth)
        *depth++ = '\0';
    const enum aggstats_grouping grouping = aggstats_grouping_of_name(word);
    if (!(GROUPINGS_OF_MOUNTS & 1U << grouping))
        return rule;
    if (groups->groupings & 1U << grouping)
        return "give each at most once";
    groups->groupings |= 1U << grouping;
    if (depth && grouping != AGGSTATS_BY_DIRECTORY)
        return "only directory takes a depth";
    if (!depth)
        return NULL;
    char *end = depth;
    const unsigned long number = depth[0] >= '0' && depth[0] <= '9' ? strtoul(depth, &end, 10) : 0;
    groups->directory_depth = number <= DEPTH_MAX && *end == '\0' ? (unsigned)number : 0;
    return groups->directory_depth == 0 ? depth_rule : NULL;
}

const char *control_parse_groups(const char *text, const char *rule, struct control_groups *ret_groups) {
    CLEANUP_FREE char *list = strdup(text);
    char *rest = list;
    const char *why = list ? NULL : "no memory";
    struct control_groups groups = {.groupings = 0};
    for (char *word; !why && (word = strsep(&rest, "+"));)
        why = parse_group(word, rule, &groups);
    if (!why)
        *ret_groups = groups;
    return why;
}

static_assert(AGGSTATS_NAME_SIZE == 32, "names are read with this width");

const char *control_parse_joint(const char *argument, struct control_joint *ret_joint) {
    struct control_joint joint = {.ends_all = strcmp(argument, "off") == 0};
    char rest;
    if (!joint.ends_all && sscanf(argument, "%31s %31s %c", joint.op, joint.value, &rest) != 2)
        return "must be OP VALUE, OP off, or off";
    joint.ends = strcmp(joint.value, "off") == 0;
    if (joint.ends)
        snprintf(joint.value, sizeof(joint.value), "error");
    *ret_joint = joint;
    return NULL;
}

/* time_parse() reads "10" as seconds, but users mean milliseconds: a unit is required. */
const char *control_parse_slow(const char *text, uint64_t *ret_ns) {
    const size_t digits = strspn(text, "0123456789.");
    *ret_ns = 0;
    if (digits > 0 && text[digits] == '\0')
        return "the unit is missing: such as 10ms, or 10s";
    return strcmp(text, "off") == 0 || time_parse(text, AGGSTATS_SLOW_MIN_NS, AGGSTATS_SLOW_MAX_NS, ret_ns)
               ? NULL
               : "must be a time from 1ms to 24h, such as 10ms or 0.5s, or off";
}

/* ---- The interface ------------------------------------------------------------------------------ */

int control_write(const struct control *control, const struct control_asker *asker, const char *data, size_t size_bytes,
                  char ret_reason[CONTROL_REASON_SIZE]) {
    int error = check_bytes(data, size_bytes, ret_reason);
    if (error)
        return error;
    size_t count = count_lines(data, size_bytes);
    CLEANUP_FREE char *text = strndup(size_bytes > 0 ? data : "", size_bytes);
    CLEANUP_FREE struct command *commands = calloc(count, sizeof(*commands));
    if (!text || !commands) {
        snprintf(ret_reason, CONTROL_REASON_SIZE, "no memory for %zu commands", count);
        return -ENOMEM;
    }
    error = parse_text(control, asker, text, commands, count, ret_reason);
    return error ? error : apply_all(control, asker, commands, count, ret_reason);
}

/* Adds the paths of calls in flight and of the longest calls. The latter not to a saved profile that has no paths
 * otherwise: such a profile may be read by all users, and must stay so. */
static void add_paths(const struct control *control, struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        struct aggstats_call *call = &profile->in_flight[i];
        proc_name_read(call->pid, call->program, sizeof(call->program));
        if (!call->path) /* the thread that watches slow calls has not added it yet */
            call->path = control->path_of(control->path_context, call->object);
    }
    if (control->is_saved && !aggstats_profile_has_paths(profile))
        return;
    for (size_t i = 0; i < profile->op_count; i++)
        if (profile->ops[i].longest_object != 0)
            profile->ops[i].longest_path = control->path_of(control->path_context, profile->ops[i].longest_object);
}

int control_read(const struct control *control, const struct view *view, bool shows_paths,
                 struct control_text *ret_text) {
    struct aggstats_profile profile = {0};
    int error = aggstats_recorder_snapshot(control->recorder, &profile);
    if (error)
        return error;
    if (!shows_paths)
        aggstats_profile_drop_paths(&profile);
    else if (control->path_of)
        add_paths(control, &profile);
    for (size_t i = 0; control->number_of && i < profile.in_flight_count; i++) /* instead of objects */
        profile.in_flight[i].object = control->number_of(control->path_context, profile.in_flight[i].object);
    if (control->says_end) {
        char end[UTC_TEXT_SIZE];
        format_utc(read_clock_ns(CLOCK_REALTIME), end);
        error = aggstats_profile_add_label(&profile, "end", end);
    }
    if (view->needs_steady_rate && control->steady_clock.frequency_hz > 0)
        profile.clock = control->steady_clock;
    struct control_text text = {
        .has_paths = aggstats_profile_has_paths(&profile),
        .exceeds_live = profile.interval_count > 0 || profile.joint_count > 0 || profile.group_count > 0,
    };
    if (error == 0)
        error = view_format(view, &profile, &text.text, &text.size_bytes);
    if (error == 0)
        *ret_text = text;
    aggstats_profile_finish(&profile);
    malloc_trim(0); /* it is large, and another thread, in its own arena, makes the next one */
    return error;
}

/* ---- Files that a client has opened for us ------------------------------------------------------ */

int control_file_check(const struct control_file *file, dev_t own_device) {
    struct statx attr;
    const int flags = fcntl(file->fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
        return -EBADF;
    if (statx(file->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &attr) < 0)
        return negative_errno();
    if (makedev(attr.stx_dev_major, attr.stx_dev_minor) == own_device)
        return -ELOOP;
    if (!S_ISREG(attr.stx_mode))
        return -ENOTSUP;
    return attr.stx_size == 0 ? 0 : -EEXIST;
}

int control_file_write(const struct control_file *file, dev_t own_device, const char *text, size_t size_bytes) {
    int error = control_file_check(file, own_device);
    if (error == 0)
        error = write_all(file->fd, text, size_bytes);
    return error == 0 && fsync(file->fd) < 0 ? negative_errno() : error;
}

void control_file_note_name(int fd, struct control_file_name *ret_name) {
    struct statx attr = {0};
    ret_name->link_count = statx(fd, "", AT_EMPTY_PATH, STATX_NLINK, &attr) == 0 ? attr.stx_nlink : 0;
    if (path_of_open(fd, ret_name->path) < 0)
        ret_name->path[0] = '\0';
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool control_file_is_renamed(int fd, const struct control_file_name *before) {
    struct control_file_name now;
    control_file_note_name(fd, &now);
    return now.link_count > before->link_count || strcmp(last_part(now.path), last_part(before->path)) != 0;
}
