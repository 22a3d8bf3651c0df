/* What BPF programs and the collector of waits both know. */
#ifndef WAITED_H
#define WAITED_H

#define WAITED_WINDOWS 2
#define WAITED_FRAMES 40
#define WAITED_FUNCTION_BYTES 128 /* "jbd2_log_wait_commit+0xcd/0x140 [jbd2]" */
#define WAITED_NAME_BYTES 16
#define WAITED_CELLS_MAX 65536
#define WAITED_STACKS_MAX 8192
#define WAITED_THREADS_MAX 65536

enum waited_kind {
    WAITED_ASLEEP,        /* until something came, or a signal */
    WAITED_BLOCKED,       /* not interruptible by all signals */
    WAITED_FOR_CPU,       /* ready to run */
    WAITED_FOR_CPU_QUOTA, /* the same, but the control group has used up its time */
    WAITED_UNSEEN,        /* time and place are unknown: the end of the wait was not reported */
    WAITED_KINDS,
};

/* Waits of one thread in one place. */
struct waited_cell {
    unsigned long long stack;  /* its number; 0: not known */
    unsigned long long cgroup; /* its inode's number */
    unsigned thread;
    unsigned process;
    unsigned kind;
    unsigned device; /* of the file system of the descriptor that its call has first; 0: not known */
    char thread_name[WAITED_NAME_BYTES]; /* up to a NUL */
    char program[WAITED_NAME_BYTES];     /* the name of the first thread */
};

struct waited_sum {
    unsigned long long waits;
    unsigned long long total_ns;
    unsigned long long longest_ns;
};

/* Functions of the kernel, the innermost first. */
struct waited_stack {
    unsigned long long frames[WAITED_FRAMES]; /* return addresses */
    unsigned count;
    unsigned unused;
};

/* A thread that waits now. */
struct waiting_now {
    struct waited_cell cell;
    unsigned long long age_ns; /* since when it was first seen, at most */
    unsigned is_since_before;  /* 1: the wait had begun before the thread was first seen */
    unsigned fallen_asleep;    /* how often: the lower half of the thread's voluntary_ctxt_switches */
};

#endif
