/* Reading events files as a whole: they may grow or shrink meanwhile. */
#include "events_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "units.h"

#define READ_STEP_BYTES ((size_t)1 << 20)

struct contents {
    unsigned char *bytes;
    size_t size_bytes;
    size_t room_bytes;
};

static int make_room(struct contents *contents, size_t more_bytes) {
    if (contents->room_bytes - contents->size_bytes >= more_bytes)
        return 0;
    size_t room_bytes = contents->room_bytes + contents->room_bytes / 2 + more_bytes;
    unsigned char *grown = realloc(contents->bytes, room_bytes);
    if (!grown)
        return -ENOMEM;
    contents->bytes = grown;
    contents->room_bytes = room_bytes;
    return 0;
}

/* A file of another type is not read to its end, which it may not have. */
static bool may_be_events(const struct contents *contents) {
    const size_t magic_bytes = strlen(EVENTS_MAGIC);
    return contents->size_bytes < magic_bytes || memcmp(contents->bytes, EVENTS_MAGIC, magic_bytes) == 0;
}

/* Makes room for the next bytes: for all that are expected, once it is known that this is an events file. */
static int make_next_room(struct contents *contents, size_t expected_bytes) {
    if (contents->size_bytes > 0 && contents->size_bytes < expected_bytes)
        return make_room(contents, expected_bytes - contents->size_bytes);
    return make_room(contents, contents->room_bytes > contents->size_bytes ? 1 : READ_STEP_BYTES);
}

static int read_all(int fd, struct contents *contents) {
    struct stat attr;
    size_t expected_bytes = fstat(fd, &attr) == 0 && S_ISREG(attr.st_mode) ? (size_t)attr.st_size + 1 : 0;
    int err = 0;
    while (err == 0 && may_be_events(contents)) {
        err = make_next_room(contents, expected_bytes);
        if (err < 0)
            break;
        ssize_t more = read(fd, contents->bytes + contents->size_bytes, contents->room_bytes - contents->size_bytes);
        if (more == 0)
            break;
        if (more > 0)
            contents->size_bytes += (size_t)more;
        else if (errno != EINTR)
            err = negative_errno();
    }
    return err;
}

/* ---- What is missing ---- */

static void tell(const char *name, uint64_t count, const char *what) {
    char text[UNITS_TEXT_SIZE];
    units_format_count(count, text);
    if (count > 0)
        complain("%s: %s %s", name, text, what);
}

/* Events dropped because they could not be saved, by error; and the others, which came too fast. */
static void tell_dropped(const struct events_input *input) {
    uint64_t rest = input->file->losses.dropped;
    for (size_t i = 0; i < input->file->failure_count; i++) {
        const struct events_failure *failure = &input->file->failures[i];
        const uint64_t dropped = failure->dropped < rest ? failure->dropped : rest;
        char what[256];
        snprintf(what, sizeof(what), "calls are not in it: it could not be written: %s", strerror((int)failure->error));
        tell(input->name, dropped, failure->error ? what : "calls are not in it: it had reached its size");
        rest -= dropped;
    }
    tell(input->name, rest, "calls are not in it: they came faster than they could be written");
}

static void tell_losses(const struct events_input *input) {
    const struct events_file *file = input->file;
    const struct events_losses *losses = &file->losses;
    bool is_ring = file->flags & EVENTS_RING;
    tell_dropped(input);
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

static int load(const char *name, struct contents *contents) {
    CLEANUP_FD int opened = -1;
    bool is_stdin = strcmp(name, "-") == 0;
    if (!is_stdin)
        opened = open(name, O_RDONLY | O_CLOEXEC);
    if (!is_stdin && opened < 0)
        return negative_errno();
    return read_all(is_stdin ? STDIN_FILENO : opened, contents);
}

static int complain_unread(const char *name, int err, const char *complaint) {
    if (complaint[0])
        complain("cannot read events %s: %s", name, complaint);
    else
        complain("cannot read events %s: %s", name, strerror(-err));
    return err;
}

int events_input_open(const char *name, struct events_input *ret_input) {
    char complaint[EVENTS_COMPLAINT_SIZE] = "";
    struct contents contents = {0};
    struct events_input input = {.name = name};
    int err = load(name, &contents);
    if (err == 0)
        err = events_open(contents.bytes, contents.size_bytes, &input.file, complaint);
    if (err < 0 || !input.file) {
        free(contents.bytes);
        return complain_unread(name, err, complaint);
    }
    input.data = contents.bytes;
    tell_losses(&input);
    *ret_input = input;
    return 0;
}

int events_input_open_with_paths(const char *name, struct events_input *ret_input) {
    int err = events_input_open(name, ret_input);
    if (err < 0)
        return err;
    err = events_find_links(ret_input->file);
    if (err < 0) {
        events_input_finish(ret_input);
        return complain_unread(name, err, "");
    }
    return 0;
}

void events_input_finish(struct events_input *input) {
    events_close(input->file);
    free(input->data);
    *input = (struct events_input){0};
}
