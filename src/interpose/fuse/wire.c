/* Opcodes and names are in wire_ops.h, the layout of bodies in linux/fuse.h. */
#include "wire.h"

#include <assert.h>
#include <linux/fuse.h>
#include <stddef.h>
#include <string.h>

#include "base.h"
#include "wire_ops.h"

#define ERROR_MAX 511 /* the kernel refuses larger ones */

static_assert(sizeof(struct fuse_in_header) == WIRE_REQUEST_BYTES &&
                  sizeof(struct fuse_out_header) == WIRE_ANSWER_BYTES,
              "as the kernel has them");

/* ---- Requests ---- */

#define IS_ROW(OPCODE, ...) [OPCODE] = true,
static const bool ops[] = {WIRE_OPS(IS_ROW)};

/* Where the names of a request begin in its body. */
#define NAMES_ROW(OPCODE, NAME, NAMES, ANSWER) [OPCODE] = NAMES,
static const uint16_t names_offsets[] = {WIRE_OPS(NAMES_ROW)};

bool wire_may_be_request(const void *bytes, size_t size_bytes, size_t whole_bytes) {
    uint32_t length_bytes;
    if (size_bytes < WIRE_REQUEST_BYTES)
        return false;
    memcpy(&length_bytes, bytes, sizeof(length_bytes));
    return length_bytes == whole_bytes;
}

bool wire_read_request(const void *bytes, size_t size_bytes, struct request_record *ret_record, const char **ret_names,
                       size_t *ret_names_bytes) {
    struct fuse_in_header header;
    struct fuse_write_in moved;
    memcpy(&header, bytes, sizeof(header));
    *ret_names = NULL;
    *ret_names_bytes = 0;
    *ret_record = (struct request_record){.kind = REQUEST_ARRIVED,
                                          .unique = header.unique,
                                          .opcode = (uint8_t)header.opcode,
                                          .node = header.nodeid,
                                          .arrived = {.pid = header.pid, .uid = header.uid}};
    if (header.opcode == FUSE_INIT) {
        ret_record->kind = REQUEST_STARTED;
        return true;
    }
    if (header.opcode >= ARRAY_SIZE(ops) || !ops[header.opcode])
        return false;
    const char *body = (const char *)bytes + WIRE_REQUEST_BYTES;
    const size_t body_bytes = size_bytes - WIRE_REQUEST_BYTES;
    const size_t before_names = names_offsets[header.opcode];
    switch (header.opcode) {
    case FUSE_READ: /* this and the next three begin alike */
    case FUSE_WRITE:
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
        if (body_bytes < offsetof(struct fuse_write_in, write_flags))
            break;
        memcpy(&moved, body, offsetof(struct fuse_write_in, write_flags));
        ret_record->arrived.offset = moved.offset;
        ret_record->asked_bytes = moved.size;
        break;
    case FUSE_RENAME: /* a request with a second node begins with it */
    case FUSE_RENAME2:
    case FUSE_LINK:
        if (body_bytes >= sizeof(ret_record->arrived.offset))
            memcpy(&ret_record->arrived.offset, body, sizeof(ret_record->arrived.offset));
        break;
    default:
        break;
    }
    if (before_names < body_bytes) {
        *ret_names = body + before_names;
        *ret_names_bytes = body_bytes - before_names;
    }
    return true;
}

/* ---- Answers ---- */

bool wire_may_be_answer(const void *bytes, size_t size_bytes, size_t whole_bytes) {
    struct fuse_out_header header;
    if (size_bytes < WIRE_ANSWER_BYTES)
        return false;
    memcpy(&header, bytes, sizeof(header));
    return header.len == whole_bytes && header.error <= 0 && header.error >= -ERROR_MAX && header.unique != 0;
}

bool wire_read_answer(const void *bytes, size_t size_bytes, struct request_record *ret_record) {
    struct fuse_out_header header;
    memcpy(&header, bytes, sizeof(header));
    uint64_t first = 0;
    const size_t first_bytes = size_bytes - WIRE_ANSWER_BYTES;
    memcpy(&first, (const char *)bytes + WIRE_ANSWER_BYTES, first_bytes < sizeof(first) ? first_bytes : sizeof(first));
    *ret_record = (struct request_record){
        .kind = REQUEST_ANSWERED,
        .unique = header.unique,
        .node = first,
        .answered = {.error = header.error, .body_bytes = header.len - WIRE_ANSWER_BYTES},
    };
    return header.unique != 0;
}

bool wire_next_entry(const char **at, const char *end, uint64_t *ret_node, const char **ret_name,
                     size_t *ret_name_bytes) {
    struct fuse_direntplus entry;
    while ((size_t)(end - *at) > FUSE_NAME_OFFSET_DIRENTPLUS) {
        memcpy(&entry, *at, FUSE_NAME_OFFSET_DIRENTPLUS);
        const size_t name_bytes = entry.dirent.namelen;
        const size_t left_bytes = (size_t)(end - *at) - FUSE_NAME_OFFSET_DIRENTPLUS;
        if (name_bytes == 0 || name_bytes > left_bytes)
            return false;
        const size_t padded_bytes = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + name_bytes);
        *ret_node = entry.entry_out.nodeid;
        *ret_name = *at + FUSE_NAME_OFFSET_DIRENTPLUS;
        *ret_name_bytes = name_bytes;
        *at = padded_bytes < (size_t)(end - *at) ? *at + padded_bytes : end;
        if (*ret_node != 0)
            return true;
    }
    return false;
}
