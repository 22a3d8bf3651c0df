/* JSON for Chromium's trace viewer: the "Trace Event Format", with complete events ("X"). Times are microseconds since
 * the first call. A track is a lane of a caller. */
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "events_export_private.h"

#define US_PER_SECOND 1000000.0L

struct chrome {
    const struct events_export *out;
    FILE *stream;
    struct events_lanes lanes;
    uint64_t first_cycles;
    bool has_first;
};

/* ---- JSON --------------------------------------------------------------------------------------- */

/* Invalid UTF-8 becomes U+FFFD. */
static void print_string(FILE *stream, const char *text) {
    const char *character;
    size_t length;
    putc('"', stream);
    while ((length = next_character(&text, &character)) > 0) {
        unsigned char first = (unsigned char)character[0];
        if (first < ' ' || first == '"' || first == '\\' || first == 0x7f)
            fprintf(stream, "\\u%04x", first);
        else
            fwrite(character, 1, length, stream);
    }
    putc('"', stream);
}

static void print_member(FILE *stream, const char *key, const char *text) {
    fprintf(stream, ",\"%s\":", key);
    print_string(stream, text);
}

/* ---- Tracks ------------------------------------------------------------------------------------- */

/* Lanes beyond a thread's first have numbers of their own, above those of threads. */
static uint64_t track_of(const struct events_lane *lane) {
    return lane->is_first ? lane->thread : (UINT64_C(1) << 32) + lane->index;
}

static void print_name(const struct chrome *chrome, const char *what, const struct events_lane *lane,
                       const char *name) {
    fprintf(chrome->stream,
            "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"args\":{\"name\":", what,
            lane->process, track_of(lane));
    print_string(chrome->stream, name);
    fputs("}},\n", chrome->stream);
}

static void name_track(const struct chrome *chrome, const struct event *event, const struct events_lane *lane) {
    char name[EVENTS_NAME_SIZE];
    char shown[EVENTS_NAME_SIZE + 16];
    events_export_name(chrome->out->file, event, name);
    snprintf(shown, sizeof(shown), lane->number ? "%s (%u)" : "%s", name, lane->number + 1);
    print_name(chrome, "thread_name", lane, shown);
    if (lane->number == 0 && lane->thread == lane->process)
        print_name(chrome, "process_name", lane, name);
}

/* ---- Calls -------------------------------------------------------------------------------------- */

static void print_details(const struct chrome *chrome, const struct event *event) {
    const struct events_op *op = &chrome->out->file->ops[event->op];
    char path[EVENTS_PATH_SIZE];
    char error[16];
    events_path_of(chrome->out->file, event, path);
    fprintf(chrome->stream, "\"args\":{\"node\":%" PRIu64, event->node);
    if (path[0])
        print_member(chrome->stream, "path", path);
    if (event->error)
        print_member(chrome->stream, "error", events_export_error(event->error, error));
    for (unsigned i = 0; i < op->column_count; i++) {
        putc(',', chrome->stream);
        print_string(chrome->stream, op->columns[i]);
        fprintf(chrome->stream, ":%" PRIu64, event->columns[i]);
    }
    fprintf(chrome->stream, ",\"uid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"worker\":%" PRIu32 "}", event->uid,
            event->thread, event->worker);
}

static long double us_of(const struct chrome *chrome, uint64_t cycles) {
    return (long double)cycles * US_PER_SECOND / (long double)chrome->out->file->clock_hz;
}

static int print_call(void *context, const struct event *event) {
    struct chrome *chrome = context;
    struct events_lane lane;
    uint64_t start_cycles;
    bool is_new;
    if (!chrome->has_first)
        chrome->first_cycles = event->start_cycles;
    chrome->has_first = true;
    int err = events_lanes_put(&chrome->lanes, event, &lane, &is_new, &start_cycles);
    if (err < 0)
        return err;
    if (is_new)
        name_track(chrome, event, &lane);
    const char *name = chrome->out->file->ops[event->op].name;
    fputs("{\"ph\":\"X\",\"cat\":\"fs\",\"name\":", chrome->stream);
    print_string(chrome->stream, name);
    fprintf(chrome->stream, ",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":%.3Lf,\"dur\":%.3Lf,", lane.process,
            track_of(&lane), us_of(chrome, start_cycles - chrome->first_cycles),
            us_of(chrome, event->end_cycles - start_cycles));
    print_details(chrome, event);
    fputs("},\n", chrome->stream);
    return 0;
}

/* The list ends with an event of its own, so that every other one ends with a comma. */
static void print_end(const struct chrome *chrome) {
    char utc[UTC_TEXT_SIZE];
    format_utc(chrome->has_first ? events_unix_ns(chrome->out->file, chrome->first_cycles) : 0, utc);
    fputs("{\"ph\":\"M\",\"name\":\"trace_version\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"osprof\"}}],\n"
          "\"displayTimeUnit\":\"ns\",\"otherData\":{\"begun\":",
          chrome->stream);
    print_string(chrome->stream, utc);
    if (chrome->out->file->host)
        print_member(chrome->stream, "host", chrome->out->file->host);
    fputs("}}\n", chrome->stream);
}

int events_export_chrome(const struct events_export *out) {
    struct chrome chrome = {.out = out, .stream = out->stream, .lanes = {.file = out->file}};
    if (out->file->clock_hz == 0)
        return -EINVAL;
    fputs("{\"traceEvents\":[\n", out->stream);
    int err = events_export_each(out, print_call, &chrome);
    print_end(&chrome);
    events_lanes_finish(&chrome.lanes);
    return err;
}
