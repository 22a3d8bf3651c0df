/* What BPF programs and the collector both know: how calls are counted in the kernel. */
#ifndef COLLECTED_H
#define COLLECTED_H

/* Buckets of a latency in ns: floor(4 * log2(ns)), as at a resolution of 4. Coarser ones are sums of these. */
#define COLLECTED_RESOLUTION 4
#define COLLECTED_BUCKETS (64 * COLLECTED_RESOLUTION)

#define COLLECTED_ERRORS 134

/* Programs count in one window, while the collector reads the other. */
#define COLLECTED_WINDOWS 2

/* floor(log2(value)); value is not 0. */
static inline __attribute__((always_inline)) unsigned collected_log2(unsigned long long value) {
    unsigned log = 0;
    for (unsigned bits = 32; bits > 0; bits /= 2) {
        if (value >> bits) {
            value >>= bits;
            log += bits;
        }
    }
    return log;
}

/* 0 counts as 1. Like aggstats_bucket_of(), which says why this is exact. */
static inline __attribute__((always_inline)) unsigned collected_bucket(unsigned long long ns) {
    const unsigned long long value = ns + (ns == 0);
    const unsigned log = collected_log2(value);
    const unsigned long long mantissa = value << (63 - log);
    const unsigned quarter =
        (mantissa >= 0x9837f0518db8a970) + (mantissa >= 0xb504f333f9de6485) + (mantissa >= 0xd744fccad69d6af5);
    return log * COLLECTED_RESOLUTION + quarter;
}

/* Bytes that read calls have returned. */
struct collected_reads {
    unsigned long long cached_bytes;   /* of files in the page cache */
    unsigned long long missed_bytes;   /* part of cached_bytes: loaded into the cache by read calls */
    unsigned long long unjudged_bytes; /* of other files */
};

/* Counts of ended calls of one kind, on one CPU. */
struct collected {
    unsigned long long buckets[COLLECTED_BUCKETS];
    unsigned long long total_ns;
    unsigned long long
        longest_ns; /* two calls that end at once, one interrupting the other, may leave the shorter one */
    unsigned long long asked_bytes;
    unsigned long long moved_bytes;
    struct collected_reads reads;
    unsigned long long failures[COLLECTED_ERRORS]; /* by errno value; 0: others */
};

/* The kernel's numbers of FUSE requests are slots; the time that they waited for a worker is in the second half. */
#define COLLECTED_OPCODES 64
#define COLLECTED_CONNECTIONS_MAX 16

/* Slots of requests to disks. The time in the kernel's queue is in the second half. */
enum collected_disk_op {
    COLLECTED_READ,
    COLLECTED_WRITE,
    COLLECTED_FLUSH,
    COLLECTED_DISCARD,
    COLLECTED_OTHER,
    COLLECTED_DISK_OPS,
};
#define COLLECTED_DISKS_MAX 8

/* ---- Groups ---- */

/* What calls have in common that are counted in a cell of a window. */
struct collected_cell {
    unsigned long long object;     /* 0: unknown */
    unsigned long long cgroup;     /* 0: not wanted */
    unsigned long long started_ns; /* when the process was; CLOCK_BOOTTIME */
    unsigned process;
    unsigned short slot;
    unsigned short bucket;
    char program[16]; /* of the process's main thread */
};

struct collected_cell_sum {
    unsigned long long calls;
    unsigned long long total_ns;
    struct collected_reads reads;
};

#define COLLECTED_CELLS_MAX 131072 /* of a window */

/* The name that an object or a control group had when first seen: its components, from the last one on. An object is an
 * inode, or, where another file may have the same number, a path to the inode. */
#define COLLECTED_PARTS 16
#define COLLECTED_PART_BYTES 64
#define COLLECTED_CGROUP_PARTS 8
#define COLLECTED_CGROUP_BYTES 128
struct collected_name {
    unsigned long long directory; /* the object that it is in */
    unsigned long long inode;     /* its number */
    unsigned device;              /* the file system that it is on */
    unsigned part_count;
    unsigned char is_directory;
    unsigned char is_cut; /* there are more components */
    union {
        char parts[COLLECTED_PARTS][COLLECTED_PART_BYTES];
        char cgroup_parts[COLLECTED_CGROUP_PARTS][COLLECTED_CGROUP_BYTES];
    };
};

#define COLLECTED_NAMES_MAX 8192

/* ---- System calls ---- */

#define COLLECTED_DEVICES_MAX 4096 /* of mounted file systems */

#define COLLECTED_SYSCALLS 512 /* numbers */
#define COLLECTED_CALL_OPS 64

/* How it is known which file system a call is on. */
enum collected_place {
    COLLECTED_FD,        /* the first argument is a descriptor */
    COLLECTED_FDS,       /* the descriptor of the first argument, or else of the third */
    COLLECTED_SENT,      /* the descriptor of the second argument, or else of the first */
    COLLECTED_MAPPED,    /* the fifth argument is a descriptor */
    COLLECTED_OPENED,    /* the result is a descriptor; else as the next */
    COLLECTED_RESOLVED,  /* the same, but it says how names are resolved */
    COLLECTED_NAME,      /* a name */
    COLLECTED_STAT,      /* struct stat has the device; else as the last */
    COLLECTED_STATX,     /* struct statx has the device; else as that */
    COLLECTED_ENTRY,     /* an entry of a directory, which has the last component as its name */
    COLLECTED_HANDLE,    /* the result is a descriptor; else the first argument is one, on the file system */
    COLLECTED_CHANGED,   /* the current directory, when the call has changed it; else as COLLECTED_NAME */
    COLLECTED_ADDRESS,   /* the mapping that the first argument points into */
    COLLECTED_ANYWHERE,  /* all file systems */
    COLLECTED_SUBMITTED, /* io_submit(2): the descriptor of the first request */
    COLLECTED_AWAITED,   /* io_getevents(2): what its context was last used for */
};

/* Which calls of that number are counted. */
enum collected_only {
    COLLECTED_EACH,
    COLLECTED_LOCKS,  /* the second argument is a command of locks */
    COLLECTED_ADVICE, /* the third one is advice by which files are read or written at once */
};

/* How many bytes are asked for. */
enum collected_bytes {
    COLLECTED_NO_BYTES,
    COLLECTED_THIRD,  /* the third argument */
    COLLECTED_FOURTH, /* the fourth one */
    COLLECTED_FIFTH,
    COLLECTED_VECTOR, /* the sum of a vector, the second argument of as many as the third one says */
};

/* Dentries, of which the place of the kernel's table is concluded. */
#define COLLECTED_SAMPLES 24

/* Where a read call reads. */
enum collected_position {
    COLLECTED_NOWHERE, /* it is none */
    COLLECTED_AT_FILE, /* at the position of the file */
    COLLECTED_AT_FOURTH,
};

/* A system call. */
struct collected_call {
    unsigned char op;        /* 0: not counted; else one more than the operation */
    unsigned char place;     /* enum collected_place */
    unsigned char bytes;     /* enum collected_bytes */
    unsigned char position;  /* enum collected_position */
    unsigned char directory; /* which argument is a descriptor of the directory, and one more; 0: the current one */
    unsigned char name;      /* which argument is the name */
    unsigned char answer;    /* which argument points to the answer */
    unsigned char flags;     /* which argument has the flag below, and one more; 0: none */
    unsigned char follows;   /* whether the name is followed without flags */
    unsigned char empty_op;  /* the operation if the name is empty, and one more; 0: the same */
    unsigned char flag_op;   /* the operation with the flag, and one more; 0: the flag says whether it is followed */
    unsigned flag;           /* reverses `follows`, or selects flag_op */
    unsigned char only;      /* enum collected_only */
};

/* A call on a watched file that has ended, and was slow. */
struct collected_slow {
    unsigned long long begin_ns; /* CLOCK_MONOTONIC */
    unsigned long long ns;
    unsigned long long object; /* 0: unknown */
    unsigned long long asked_bytes;
    unsigned long long moved_bytes;
    unsigned long long
        start_stack; /* where the stack of the process begins: another one for each program; 0: unknown */
    unsigned thread;
    unsigned process;
    unsigned uid;
    unsigned op;
    int error; /* an errno value; 0: success */
    char program[16];
};

#define COLLECTED_SLOW_BYTES (256 * 1024) /* of all that have not been read */

/* The place of a program at the end of a slow call: registers, the functions that the kernel found by frame pointers,
 * and the top of the stack, for functions without frame pointers. */
#define COLLECTED_USER_FUNCTIONS 32
#define COLLECTED_USER_PART_BYTES 512
#define COLLECTED_USER_PARTS 8
struct collected_user_stack {
    unsigned long long instruction;
    unsigned long long stack;
    unsigned long long frame; /* rbp; x29 */
    unsigned long long link;  /* x30; 0 where there is none */
    unsigned address_count;   /* 0: unknown */
    unsigned part_count;      /* that could be read */
    unsigned is_32;           /* a 32-bit program */
    unsigned unused;
    unsigned long long addresses[COLLECTED_USER_FUNCTIONS];               /* the innermost first */
    unsigned char parts[COLLECTED_USER_PARTS][COLLECTED_USER_PART_BYTES]; /* of memory, from the stack pointer on */
};

struct collected_slow_user {
    struct collected_slow call; /* must be first */
    struct collected_user_stack from;
};

#define COLLECTED_SLOW_USER_BYTES (2 * 1024 * 1024)

/* A call under way that is on a watched file, or may be. */
struct collected_under_way {
    unsigned long long begin_ns;    /* CLOCK_MONOTONIC */
    unsigned long long object;      /* 0: unknown */
    unsigned long long ran_ns;      /* CPU time of its thread */
    unsigned long long queued_ns;   /* in which its thread could run and had no CPU */
    unsigned long long start_stack; /* as in struct collected_slow */
    unsigned thread;
    unsigned process;
    unsigned uid;
    unsigned device; /* where a name has led that its thread follows now, as the kernel has it; 0: it follows none */
    unsigned op;
    unsigned char can_run;   /* its thread runs, or could */
    unsigned char has_cpu;   /* it runs */
    unsigned char had_begun; /* before calls were counted: at the latest at begin_ns */
    unsigned char is_named;  /* by a name: where it is on is known when it has ended */
};

#define COLLECTED_STACK_FUNCTIONS 48 /* of the kernel, at most */

/* ---- Requests of io_uring ---- */

#define COLLECTED_OPCODES_OF_RINGS 64

/* Which file a request is on. */
enum collected_target {
    COLLECTED_TARGET_FILE, /* the file of the request */
    COLLECTED_TARGET_CLOSED,
    COLLECTED_TARGET_OPENED,  /* the file of the resulting descriptor; unknown after a failure */
    COLLECTED_TARGET_STATX,   /* struct statx has the device; unknown after a failure */
    COLLECTED_TARGET_UNKNOWN, /* the request has a name */
    COLLECTED_TARGET_UNLINK,  /* this and the next targets: an entry of a directory */
    COLLECTED_TARGET_RENAME,
    COLLECTED_TARGET_MKDIR,
    COLLECTED_TARGET_LINK,
};

/* A request of io_uring. */
struct collected_request {
    unsigned char op;        /* 0: not counted; else one more than the operation */
    unsigned char target;    /* enum collected_target */
    unsigned char has_bytes; /* asks for a length */
    unsigned char has_parts; /* asks for a vector of lengths */
};

#endif
