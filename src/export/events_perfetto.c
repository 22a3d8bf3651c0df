/* Perfetto's protobuf: a packet for each lane (events_export_private.h), and one for the beginning and the end of each
 * call. Timestamps are of the wall clock, which the first packet declares to be the trace's clock. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "events_export_private.h"
#include "perfetto.pb-c.h"

#define CLOCK_ID_REALTIME 1U
#define CLOCK_ID_BOOTTIME 6U
#define SEQUENCE_ID 1U
#define TRACE_PACKET_TAG 0x0a /* field 1 of Trace, preceded by its length */
#define ANNOTATIONS_MAX (EVENTS_COLUMNS_MAX + 6U)
#define PACKET_BYTES_MAX 16384U /* texts are bounded, and there are few */

struct perfetto {
    const struct events_export *out;
    struct events_lanes lanes;
    bool has_first;
};

/* Invalid UTF-8 becomes U+FFFD, or is left out if there is no room for that. */
static void copy_utf8(const char *text, char *ret_text, size_t size_bytes) {
    const char *character;
    size_t length;
    size_t written = 0;
    while ((length = next_character(&text, &character)) > 0 && written + length < size_bytes) {
        memcpy(ret_text + written, character, length);
        written += length;
    }
    ret_text[written] = '\0';
}

/* ---- Packets ------------------------------------------------------------------------------------ */

static void write_packet(const struct perfetto *perfetto, Perfetto__TracePacket *packet) {
    uint8_t bytes[PACKET_BYTES_MAX];
    packet->has_trusted_packet_sequence_id = 1;
    packet->trusted_packet_sequence_id = SEQUENCE_ID;
    size_t length = perfetto__trace_packet__get_packed_size(packet);
    if (length > sizeof(bytes))
        return;
    perfetto__trace_packet__pack(packet, bytes);
    putc(TRACE_PACKET_TAG, perfetto->out->stream);
    size_t rest = length;
    for (; rest >= 0x80; rest >>= 7)
        putc((int)(rest & 0x7f) | 0x80, perfetto->out->stream);
    putc((int)rest, perfetto->out->stream);
    fwrite(bytes, 1, length, perfetto->out->stream);
}

static uint64_t ns_of(const struct perfetto *perfetto, uint64_t cycles) {
    int64_t ns = events_unix_ns(perfetto->out->file, cycles);
    return ns > 0 ? (uint64_t)ns : 0;
}

static void write_clocks(const struct perfetto *perfetto, uint64_t now_ns) {
    Perfetto__Clock clocks[2];
    Perfetto__Clock *pointers[] = {&clocks[0], &clocks[1]};
    Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    for (unsigned i = 0; i < 2; i++) {
        perfetto__clock__init(&clocks[i]);
        clocks[i].has_clock_id = clocks[i].has_timestamp = 1;
        clocks[i].clock_id = i ? CLOCK_ID_BOOTTIME : CLOCK_ID_REALTIME;
        clocks[i].timestamp = now_ns;
    }
    snapshot.n_clocks = 2;
    snapshot.clocks = pointers;
    packet.clock_snapshot = &snapshot;
    write_packet(perfetto, &packet);
}

/* ---- Tracks ------------------------------------------------------------------------------------- */

/* For the process; those of lanes are their index plus 1, added to these. */
static uint64_t uuid_of_process(const struct events_lane *lane) {
    return UINT64_C(1) << 62 | lane->process;
}

static uint64_t uuid_of_lane(const struct events_lane *lane) {
    return lane->index + 1;
}

static void write_track(const struct perfetto *perfetto, Perfetto__TrackDescriptor *track) {
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    track->has_uuid = 1;
    packet.track_descriptor = track;
    write_packet(perfetto, &packet);
}

/* Written for each of its lanes; readers merge equal ones. */
static void write_process(const struct perfetto *perfetto, const struct events_lane *lane, char *name) {
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
    process.has_pid = 1;
    process.pid = (int32_t)lane->process;
    process.process_name = name;
    track.uuid = uuid_of_process(lane);
    track.process = &process;
    write_track(perfetto, &track);
}

static void write_lane(const struct perfetto *perfetto, const struct event *event, const struct events_lane *lane) {
    char name[EVENTS_NAME_SIZE];
    char shown[EVENTS_NAME_SIZE + 32];
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    events_export_name(perfetto->out->file, event, shown);
    copy_utf8(shown, name, sizeof(name));
    write_process(perfetto, lane, name);
    snprintf(shown, sizeof(shown), "%s %" PRIu32 " calls %u", name, lane->thread, lane->number + 1);
    track.uuid = uuid_of_lane(lane);
    track.has_parent_uuid = 1;
    track.parent_uuid = uuid_of_process(lane);
    track.name = shown;
    write_track(perfetto, &track);
}

/* ---- Calls -------------------------------------------------------------------------------------- */

struct annotations {
    Perfetto__DebugAnnotation annotations[ANNOTATIONS_MAX];
    Perfetto__DebugAnnotation *pointers[ANNOTATIONS_MAX];
    size_t count;
};

static Perfetto__DebugAnnotation *annotate(struct annotations *annotations, const char *name) {
    Perfetto__DebugAnnotation *annotation = &annotations->annotations[annotations->count];
    perfetto__debug_annotation__init(annotation);
    annotation->name = (char *)(uintptr_t)name; /* only read */
    annotations->pointers[annotations->count++] = annotation;
    return annotation;
}

static void annotate_number(struct annotations *annotations, const char *name, uint64_t number) {
    Perfetto__DebugAnnotation *annotation = annotate(annotations, name);
    annotation->has_uint_value = 1;
    annotation->uint_value = number;
}

static void write_slice(const struct perfetto *perfetto, Perfetto__TrackEvent *slice, const struct events_lane *lane,
                        uint64_t cycles) {
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    slice->has_type = slice->has_track_uuid = packet.has_timestamp = 1;
    slice->track_uuid = uuid_of_lane(lane);
    packet.timestamp = ns_of(perfetto, cycles);
    packet.track_event = slice;
    write_packet(perfetto, &packet);
}

static void write_begin(const struct perfetto *perfetto, const struct event *event, const struct events_lane *lane,
                        uint64_t start_cycles) {
    const struct events_op *op = &perfetto->out->file->ops[event->op];
    struct annotations annotations = {.count = 0};
    Perfetto__TrackEvent slice = PERFETTO__TRACK_EVENT__INIT;
    char *categories[] = {(char[]){"fs"}, (char[]){"osprof"}}; /* the second marks results (output.c) */
    char path[EVENTS_PATH_SIZE];
    char shown[EVENTS_PATH_SIZE];
    char error[16];
    events_path_of(perfetto->out->file, event, path);
    copy_utf8(path, shown, sizeof(shown));
    if (shown[0])
        annotate(&annotations, "path")->string_value = shown;
    if (event->error)
        annotate(&annotations, "error")->string_value = (char *)(uintptr_t)events_export_error(event->error, error);
    annotate_number(&annotations, "node", event->node);
    annotate_number(&annotations, "uid", event->uid);
    annotate_number(&annotations, "worker", event->worker);
    for (unsigned i = 0; i < op->column_count; i++)
        annotate_number(&annotations, op->columns[i], event->columns[i]);
    slice.n_debug_annotations = annotations.count;
    slice.debug_annotations = annotations.pointers;
    slice.n_categories = 2;
    slice.categories = categories;
    slice.name = op->name;
    slice.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
    write_slice(perfetto, &slice, lane, start_cycles);
}

static int write_call(void *context, const struct event *event) {
    struct perfetto *perfetto = context;
    Perfetto__TrackEvent end = PERFETTO__TRACK_EVENT__INIT;
    struct events_lane lane;
    uint64_t start_cycles;
    bool is_new;
    int err = events_lanes_put(&perfetto->lanes, event, &lane, &is_new, &start_cycles);
    if (err < 0)
        return err;
    if (!perfetto->has_first)
        write_clocks(perfetto, ns_of(perfetto, event->start_cycles));
    perfetto->has_first = true;
    if (is_new)
        write_lane(perfetto, event, &lane);
    write_begin(perfetto, event, &lane, start_cycles);
    end.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
    write_slice(perfetto, &end, &lane, event->end_cycles);
    return 0;
}

int events_export_perfetto(const struct events_export *out) {
    struct perfetto perfetto = {.out = out, .lanes = {.file = out->file}};
    if (out->file->clock_hz == 0)
        return -EINVAL;
    int err = events_export_each(out, write_call, &perfetto);
    events_lanes_finish(&perfetto.lanes);
    return err;
}
