/* Comma-separated values, as in RFC 4180. Unknown numbers are empty. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_export_private.h"

struct csv {
    const struct events_export *out;
    FILE *stream;
    struct events_order *order; /* NULL: the calls are of one host */
};

/* Invalid UTF-8 becomes U+FFFD: readers refuse the whole file otherwise. */
static void print_quoted(FILE *stream, const char *text) {
    const char *character;
    size_t length;
    putc('"', stream);
    while ((length = next_character(&text, &character)) > 0) {
        if (character[0] == '"')
            putc('"', stream);
        fwrite(character, 1, length, stream);
    }
    putc('"', stream);
}

/* Always quoted, so that a reader does not take a name for a number. */
static void print_text(FILE *stream, const char *text) {
    putc(',', stream);
    if (text[0])
        print_quoted(stream, text);
}

static void print_number(FILE *stream, bool is_known, uint64_t number) {
    putc(',', stream);
    if (is_known)
        fprintf(stream, "%" PRIu64, number);
}

static void print_column(const struct csv *csv, const struct event *event, const char *name) {
    int column = events_column(csv->out->file, event->op, name, event->has_more);
    print_number(csv->stream, column >= 0, column >= 0 ? event->columns[column] : 0);
}

static void print_caller(const struct csv *csv, const struct event *event) {
    char name[EVENTS_NAME_SIZE];
    struct events_text unused;
    uint64_t process = events_task(csv->out->file, event, &unused);
    events_export_name(csv->out->file, event, name);
    print_number(csv->stream, true, events_thread_number(csv->out->file, process ? process : event->thread));
    print_number(csv->stream, true, events_thread_number(csv->out->file, event->thread));
    print_text(csv->stream, name);
    print_number(csv->stream, true, event->uid);
}

static int print_call(void *context, const struct event *event) {
    const struct csv *csv = context;
    const struct events_file *file = csv->out->file;
    const struct events_text text = events_text_of(file, event, "new_name");
    CLEANUP_FREE char *new_name = text.bytes ? strndup(text.bytes, text.length) : NULL; /* it has no NUL at its end */
    char path[EVENTS_PATH_SIZE];
    char error[16];
    fprintf(csv->stream, "%" PRId64 ",%.0Lf", events_unix_ns(file, event->start_cycles),
            file->clock_hz ? (long double)event->latency_cycles * NS_PER_S / (long double)file->clock_hz
                           : (long double)event->latency_cycles);
    print_number(csv->stream, true, event->start_cycles);
    print_number(csv->stream, true, event->latency_cycles);
    print_text(csv->stream, file->ops[event->op].name);
    print_text(csv->stream, events_export_error(event->error, error));
    print_caller(csv, event);
    print_number(csv->stream, true, event->node);
    events_path_of(file, event, path);
    print_text(csv->stream, path);
    print_text(csv->stream, new_name ? new_name : "");
    print_column(csv, event, "size");
    print_column(csv, event, "offset");
    print_column(csv, event, "result");
    print_column(csv, event, "file");
    print_number(csv->stream, true, event->worker);
    if (csv->order) { /* of merged files: the host, and whether the call may have begun before a call above it */
        const struct events_host_seen *host = events_host_of(file, event->stream);
        print_text(csv->stream, host && host->name ? host->name : "");
        print_number(csv->stream, true, events_is_unordered(csv->order, event));
    }
    putc('\n', csv->stream);
    return 0;
}

int events_export_csv(const struct events_export *out) {
    struct csv csv = {.out = out, .stream = out->stream};
    if (out->file->host_count > 0 && events_order_create(out->file, &csv.order) < 0)
        return -ENOMEM;
    fputs("start_ns,latency_ns,start_cycles,latency_cycles,op,error,pid,tid,program,uid,node,path,new_name,size,offset,"
          "result,file,worker",
          out->stream);
    fputs(csv.order ? ",host,unordered\n" : "\n", out->stream);
    int err = events_export_each(out, print_call, &csv);
    free(csv.order);
    return err;
}
