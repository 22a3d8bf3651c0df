/* What a FUSE daemon reads and writes, and what it may write into the ring: whatever the bytes are, they are looked at
 * within their bounds, and counted so that the profile is consistent.
 *
 * An input is messages, each a byte that says what it is, two with its length, and its bytes. */
#include <string.h>

#include "fuzz.h"
#include "requests.h"
#include "wire.h"

enum message_kind { MESSAGE_REQUEST, MESSAGE_ANSWER, MESSAGE_LISTING, MESSAGE_RECORD, MESSAGE_KINDS };

static struct aggstats_recorder *create_recorder(void) {
    const struct aggstats_recorder_options options = {
        .op_names = wire_op_names,
        .op_count = WIRE_OP_COUNT,
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000},
    };
    struct aggstats_recorder *recorder = NULL;
    FUZZ_PROMISE(aggstats_recorder_create(&options, &recorder) == 0);
    return recorder;
}

static void set_names(struct request *request, const char *names, size_t names_bytes) {
    request->names_bytes = names_bytes < REQUEST_NAMES_MAX ? names_bytes : REQUEST_NAMES_MAX;
    if (request->names_bytes > 0)
        memcpy(request->names, names, request->names_bytes);
    request->names[request->names_bytes] = '\0';
}

static void take_request(struct requests *requests, const uint8_t *bytes, size_t size_bytes, uint64_t now) {
    static struct request request;
    const char *names;
    size_t names_bytes;
    if (size_bytes < WIRE_REQUEST_BYTES)
        return;
    (void)wire_may_be_request(bytes, size_bytes, size_bytes);
    if (!wire_read_request(bytes, size_bytes, &request.record, &names, &names_bytes))
        return;
    FUZZ_PROMISE(!names || (names >= (const char *)bytes && names + names_bytes <= (const char *)bytes + size_bytes));
    request.record.time_cycles = now;
    set_names(&request, names, names_bytes);
    requests_take(requests, &request);
}

static void take_answer(struct requests *requests, const uint8_t *bytes, size_t size_bytes, uint64_t now) {
    static struct request request;
    if (size_bytes < WIRE_ANSWER_BYTES)
        return;
    (void)wire_may_be_answer(bytes, size_bytes, size_bytes);
    if (!wire_read_answer(bytes, size_bytes, &request.record))
        return;
    request.record.time_cycles = now;
    set_names(&request, NULL, 0);
    requests_take(requests, &request);
}

static void take_listing(const uint8_t *bytes, size_t size_bytes) {
    const char *at = (const char *)bytes;
    const char *const end = at + size_bytes;
    uint64_t node;
    const char *name;
    size_t name_bytes;
    while (wire_next_entry(&at, end, &node, &name, &name_bytes))
        FUZZ_PROMISE(node != 0 && name_bytes > 0 && name >= (const char *)bytes && name + name_bytes <= end &&
                     at <= end);
}

/* As from a ring that somebody else has written to. */
static void take_record(struct requests *requests, const uint8_t *bytes, size_t size_bytes) {
    static struct request request;
    if (size_bytes < sizeof(request.record))
        return;
    memcpy(&request.record, bytes, sizeof(request.record));
    set_names(&request, (const char *)bytes + sizeof(request.record), size_bytes - sizeof(request.record));
    requests_take(requests, &request);
}

static void promise_consistent(struct requests *requests) {
    struct aggstats_profile profile;
    FUZZ_PROMISE(aggstats_recorder_snapshot(requests->recorder, &profile) == 0);
    FUZZ_PROMISE(requests->pending_count <= REQUESTS_MAX && profile.in_flight_count == requests->pending_count);
    uint64_t begun = 0;
    uint64_t ended = 0;
    for (size_t i = 0; i < profile.op_count; i++) {
        begun += profile.ops[i].calls;
        for (unsigned bucket = 0; bucket < 64; bucket++)
            ended += profile.ops[i].buckets[bucket];
    }
    FUZZ_PROMISE(begun - ended == requests->pending_count);
    for (size_t i = 0; i < requests->pending_count; i++)
        free(nodes_path(&requests->nodes, requests->pending[i].node));
    aggstats_profile_finish(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    static struct requests requests;
    struct aggstats_recorder *recorder = create_recorder();
    FUZZ_PROMISE(requests_init(&requests, recorder) == 0);
    uint64_t now = 1000;
    for (size_t at = 0; at + 3 <= size_bytes;) {
        const enum message_kind kind = data[at] % MESSAGE_KINDS;
        size_t length = (size_t)data[at + 1] | (size_t)data[at + 2] << 8;
        at += 3;
        if (length > size_bytes - at)
            length = size_bytes - at;
        if (kind == MESSAGE_REQUEST)
            take_request(&requests, data + at, length, now);
        else if (kind == MESSAGE_ANSWER)
            take_answer(&requests, data + at, length, now);
        else if (kind == MESSAGE_LISTING)
            take_listing(data + at, length);
        else
            take_record(&requests, data + at, length);
        at += length;
        now += 4096;
    }
    promise_consistent(&requests);
    requests_finish(&requests);
    aggstats_recorder_destroy(recorder);
    return 0;
}
