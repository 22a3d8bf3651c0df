/* Format of events files, which hold every call with its arguments.
 *
 * A file is a struct events_start followed by chunks. A chunk is a struct events_chunk followed by the content of its
 * kind. Numbers are in the byte order of the recording machine, which `byte_order` shows. Everything is a multiple of 8
 * bytes long and aligned to 8 bytes.
 *
 * Extensions: a reader refuses a file of another major version. In a newer minor version there may be chunks of unknown
 * kinds, lines of the description with unknown words, entries of unknown kinds, and structs may be longer at their end:
 * `start_bytes` and `head_bytes` say where the rest begins. A reader skips all of these.
 *
 * Incomplete files: after a crash the last chunk may be cut off, or hold other data. Its size or checksum shows that.
 * Everything before it is complete. A file that was ended properly ends with a mark EVENTS_MARK_STOP.
 *
 * Streams: a stream is the sequence of calls that are counted in one block: the calls of one thread of osproffs, and,
 * after it has ended, maybe of another (`worker`). Its calls are numbered from 0, whether recorded or not. In the file
 * the calls of a stream are in this order, and each begins after the one before has ended. Chunks of different streams
 * are in no particular order.
 *
 * The number of missing calls is known exactly. The numbers of a chunk's calls and of the stream's previous chunk show
 * how many calls lie between; `dropped` says how many of those were dropped because buffers were full. The others were
 * in chunks that this file does not have (a ring keeps only the last chunks). */
#ifndef EVENTS_FORMAT_H
#define EVENTS_FORMAT_H

#include <stdint.h>

#define EVENTS_MAGIC "OSPEVENT" /* 8 bytes */
#define EVENTS_BYTE_ORDER 0x01020304U
#define EVENTS_MAJOR 1U
#define EVENTS_MINOR 1U

struct events_start {
    char magic[8];
    uint32_t byte_order; /* EVENTS_BYTE_ORDER */
    uint16_t major;
    uint16_t minor;
    uint32_t start_bytes; /* of this struct: the first chunk follows */
    uint32_t flags;       /* enum events_flag */
    uint64_t reserved;
};

enum events_flag {
    EVENTS_RING = 1 << 0,  /* from a ring: earlier calls are not in the file */
    EVENTS_NAMES = 1 << 1, /* recorded with names: records have EVENTS_MORE */
};

#define EVENTS_CHUNK_MAGIC 0x4b4e4843U /* "CHNK" on a little-endian machine */
#define EVENTS_CHUNK_MAX (4U << 20)    /* maximum size of a chunk in bytes */

enum events_chunk_kind {
    EVENTS_DESCRIPTION = 1, /* text, see below; the first chunk */
    EVENTS_CLOCK = 2,       /* struct events_clock */
    EVENTS_BUFFER = 3,      /* struct events_buffer, then records */
    EVENTS_MARK = 4,        /* struct events_mark, then struct events_mark_stream[] */
    EVENTS_STRINGS = 5,     /* struct events_string, each followed by its text, padded with zeros to 8 bytes */
    EVENTS_HOST = 6,        /* struct events_host, then a description; only in merged files, see below */
    EVENTS_FAILURE = 7,     /* struct events_failure */
};

struct events_chunk {
    uint32_t magic; /* EVENTS_CHUNK_MAGIC */
    uint16_t kind;
    uint16_t head_bytes; /* of the struct of this kind, which follows; 0: the kind has none (text, strings) */
    uint32_t size_bytes; /* of the chunk including this struct; a multiple of 8, at most EVENTS_CHUNK_MAX */
    uint32_t checksum;   /* events_checksum() of the chunk with 0 in this field */
    uint64_t sequence;   /* 0, 1, 2... in the order of writing; in a ring it may start with any number */
};

/* The description is text of lines, "word rest". Words that are defined:
 *
 *   host NAME              of the machine
 *   osproffs VERSION       of the program
 *   boot ID                of this boot of the machine: its clocks and numbers of processes belong together
 *   pid NUMBER             of osproffs
 *   clock KIND HZ          as in profiles: "tsc 2994372000"; cycles are those of this clock. The rate is what was known
 *                          when recording began; pairs of the clock tell it better
 *   resolution R           of the recorded profile
 *   label KEY VALUE        a line of the recorded profile's header, such as "label lower /srv"
 *   op NUMBER NAME [bytes]|COLUMNS|MORE|TEXTS
 *                          an operation: its number in records and its name in profiles, without OP_; "bytes" if its
 *                          columns `size` and `result` are bytes asked for and moved, and are counted in the profile.
 *                          Then three lists of names, separated by blanks: of the columns that each record has, of
 *                          those that records with EVENTS_MORE have too, and of the texts that these have.
 *
 * In a name or value that is cut to a line of its own, newline, carriage return and backslash are written \n, \r, \\.
 *
 * Columns of osproffs (a column is 64 bits; columns that nothing is known of are 0):
 *
 *   size, offset, result   bytes asked for, where, and what came of it: bytes moved, entries listed, position found;
 *                          size of SETATTR is the file's new size, if `which` says so, and of FALLOCATE the length
 *   file                   the handle of the open file or directory; of ops that open, the new one. 0: none
 *   entry                  the node that was found or made (LOOKUP, CREATE, MKDIR...). 0: none was
 *   parent                 the directory of the other name (RENAME, LINK)
 *   out_node, out_file, out_offset
 *                          where COPY_FILE_RANGE writes to
 *   which                  what SETATTR changes: enum events_set
 *   mode, umask, flags, device, owner, group, atime_s, atime_ns, mtime_s, mtime_ns, mask, whence, data_only,
 *   lock_owner, lock_type, lock_start, lock_length, is_flock, command, block, gid
 *                          arguments of the call, for doing it again; umask and gid are the caller's
 *   process                of the caller, as it was when the call ended
 *
 * Texts: name, new_name (in `parent`), target (of a symbolic link), attribute (an extended one, by name), program (of
 * the caller, as it was when the call ended). Files of osprof attach have process and program, and no tasks in the
 * string table. */

/* The key of a label of files that have only some calls: "label only calls of at least 10 ms". A profile that is made of
 * these is incomplete. */
#define EVENTS_LABEL_ONLY "only"

/* Bits of the column `which`. */
enum events_set {
    EVENTS_SET_MODE = 1 << 0,
    EVENTS_SET_OWNER = 1 << 1,
    EVENTS_SET_GROUP = 1 << 2,
    EVENTS_SET_SIZE = 1 << 3,
    EVENTS_SET_ATIME = 1 << 4,
    EVENTS_SET_MTIME = 1 << 5,
    EVENTS_SET_ATIME_NOW = 1 << 7,
    EVENTS_SET_MTIME_NOW = 1 << 8,
};

/* Both clocks at one moment. Written at both ends and every few seconds. */
struct events_clock {
    uint64_t cycles;
    int64_t realtime_ns;  /* CLOCK_REALTIME, since 1970 */
    int64_t monotonic_ns; /* CLOCK_MONOTONIC */
    uint64_t gap_cycles;  /* duration of the reading: the pair's error is at most half of it */
    uint64_t error_ns;    /* the kernel's bound on the error of its wall clock (adjtimex(2), maxerror) */
    uint32_t status;      /* adjtimex(2), status; STA_UNSYNC: nobody sets the clock, and error_ns means nothing */
    uint32_t reserved;
};

struct events_buffer {
    uint32_t stream;
    uint32_t worker;      /* the thread of osproffs that served the calls */
    uint64_t first_index; /* number of the first call in the stream; the others follow without a gap */
    uint64_t dropped;     /* calls of the stream dropped before the first one, since recording began */
    uint32_t record_count;
    uint32_t reserved;
};

/* A call that has ended. After it: the latency as a number of 64 bits if EVENTS_LONG, then the op's columns; and if
 * EVENTS_MORE, the op's further columns and its texts: each a uint16_t length, a uint16_t original length, and the
 * bytes; after the last one zeros up to a multiple of 8. A text was cut if its length is less than the original. */
struct events_record {
    uint64_t start_cycles;
    uint64_t node;           /* of the call, or the directory of `name`; always the same file. The root is 1 */
    uint32_t latency_cycles; /* exactly as it was counted; its lower half if EVENTS_LONG */
    uint32_t thread;         /* the caller's number of gettid(2); 0: the kernel itself */
    uint32_t uid;            /* the caller's */
    uint32_t head;           /* packed; see the four functions below */
};

#define EVENTS_OPS_MAX 64U
#define EVENTS_WORDS_MAX 1023U
static inline uint32_t events_head(unsigned op, unsigned words, unsigned error, unsigned flags) {
    return op | words << 6 | error << 16 | flags << 28;
}
static inline unsigned events_head_op(uint32_t head) {
    return head & 63U;
}
/* Length of the record including what follows it, in units of 8 bytes. */
static inline unsigned events_head_words(uint32_t head) {
    return head >> 6 & 1023U;
}
/* errno value; 0: the call did not fail. */
static inline unsigned events_head_error(uint32_t head) {
    return head >> 16 & 4095U;
}
static inline unsigned events_head_flags(uint32_t head) {
    return head >> 28;
}

enum events_record_flag {
    EVENTS_LONG = 1 << 0,     /* the latency has more than 32 bits */
    EVENTS_MORE = 1 << 1,     /* further columns and texts follow */
    EVENTS_PAST_EOF = 1 << 2, /* nothing was left to read or to list */
};

#define EVENTS_COLUMNS_MAX 16U /* of an op, including those of EVENTS_MORE */
#define EVENTS_TEXTS_MAX 2U

/* A change of the whole profile. A call is before the mark if its number is less than `index` of its stream here, or if
 * its stream has ended before; calls of streams that are not listed are after it. So each call is on the same side as
 * in the recorded profile. */
struct events_mark {
    uint32_t kind;         /* enum events_mark_kind */
    uint32_t stream_count; /* number of struct events_mark_stream that follow */
    uint64_t cycles;       /* when; the recorded profile's window begins or ends at this time, too */
    int64_t realtime_ns;
    uint64_t number; /* of a rotation: the same in its three marks */
};

enum events_mark_kind {
    EVENTS_MARK_START = 1,       /* recording began; calls in flight then are missing. index 0: began with the mount */
    EVENTS_MARK_STOP = 2,        /* recording ended; `index` and `dropped` are final. The last chunk */
    EVENTS_MARK_RESET = 3,       /* the profile was reset */
    EVENTS_MARK_PAUSE = 4,       /* from here on calls that end are not counted */
    EVENTS_MARK_RESUME = 5,      /* from here on calls that end are counted again */
    EVENTS_MARK_ROTATE = 6,      /* a window of the profile ends here, if it can be saved */
    EVENTS_MARK_ROTATED = 7,     /* it was saved: the profile begins at the mark ROTATE of that number. The time of this
                              * mark means nothing */
    EVENTS_MARK_NOT_ROTATED = 8, /* it was not saved: nothing has changed */
    EVENTS_MARK_WRITTEN = 9,     /* a ring was written on command: as STOP, but recording continued */
    EVENTS_MARK_SLOW = 10,       /* the same, because a slow call had ended */
};

struct events_mark_stream {
    uint32_t stream;
    uint32_t is_inexact; /* 1: a call that was just ending may be on the wrong side */
    uint64_t index;
    uint64_t dropped; /* of the calls before */
};

/* Why calls were dropped, if the reason was not that buffers were full. These calls are included in `dropped` of their
 * streams. */
struct events_failure {
    uint32_t error; /* errno value of the failed write; 0: the file had reached its maximum size */
    uint32_t reserved;
    uint64_t dropped;      /* calls of all streams during that time */
    uint64_t first_cycles; /* begin and end of that time */
    uint64_t last_cycles;
};

/* The string table. An entry is valid until the next one of the same kind and key in the file. */
struct events_string {
    uint32_t kind;         /* enum events_string_kind */
    uint32_t length_bytes; /* of the text that follows, without the padding; any bytes except 0 */
    uint64_t key;
    uint64_t value;
};

enum events_string_kind {
    EVENTS_STRING_PATH =
        1, /* key: node; text: its path below the mount, "/" for the mount itself; value: when, in cycles */
    EVENTS_STRING_TASK = 2, /* key: thread of a caller; value: its process, 0: not known; text: the thread's name */
};

/* A recording in a merged file; the calls of each recording are in streams of their own. All times are cycles since
 * 1970 by the wall clock of each recording's machine, at the rate that the file's description gives. Numbers of nodes,
 * open files, callers and processes of a recording have the recording's number in their upper bits, so that they differ
 * from those of the others: node XOR number << EVENTS_HOST_NODE_SHIFT, thread XOR number << EVENTS_HOST_THREAD_SHIFT.
 * The numbers of recording 0 stay unchanged. A mark PAUSE or RESUME of one recording lists the streams of the other
 * recordings with index UINT64_MAX, so the mark has no effect on their calls. */
struct events_host {
    uint32_t number;       /* from 0, without gaps */
    uint32_t machine;      /* equal numbers: the same boot of the same machine, so the calls have one clock */
    uint32_t first_stream; /* its streams are this one and the following */
    uint32_t stream_count;
    uint64_t error_ns; /* maximum error of its times; UINT64_MAX: nobody set the machine's clock */
    uint32_t flags;    /* enum events_host_flag */
    uint32_t reserved;
};

enum events_host_flag {
    EVENTS_HOST_OPEN = 1 << 0, /* there was no mark at its end: its last calls are missing */
};

#define EVENTS_HOSTS_MAX 1023U
#define EVENTS_HOST_NODE_SHIFT 48
#define EVENTS_HOST_THREAD_SHIFT 22 /* numbers of threads in the kernel are less than 1 << 22 */

/* A Fletcher checksum of 64-bit words. sum: the result for the words before; {0, 0} at first. size_bytes: a multiple of
 * 8 */
struct events_sum {
    uint64_t a;
    uint64_t b;
};
static inline struct events_sum events_sum_add(struct events_sum sum, const void *data, uint64_t size_bytes) {
    const unsigned char *bytes = (const unsigned char *)data;
    for (uint64_t at = 0; at + 8 <= size_bytes; at += 8) {
        uint64_t word;
        __builtin_memcpy(&word, bytes + at, sizeof(word));
        sum.a += word;
        sum.b += sum.a;
    }
    return sum;
}
static inline uint32_t events_checksum(struct events_sum sum) {
    uint64_t both = sum.a ^ (sum.b << 32 | sum.b >> 32);
    return (uint32_t)(both ^ both >> 32);
}

#endif
