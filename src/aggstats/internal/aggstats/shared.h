/* libaggstats, inside this project: a live file in which any number of processes count, one after the other and at
 * once.
 *
 * The process that makes the file, the maker, calls aggstats_recorder_create_shared(). The maker's recorder shows all
 * counts. Each thread that counts has a block of the file. When the thread has ended, also by exec or SIGKILL, the next
 * thread of any process takes the block over. So the file grows with the largest number of threads at one time, not
 * with the number of all threads. Beyond 64 threads, each takes a page of memory for its first four operations, and
 * another page for about four more (resolution 1). */
#ifndef AGGSTATS_SHARED_H
#define AGGSTATS_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats/recorder.h"

#define AGGSTATS_SHARED_THREADS_MAX 65536U

/* Sums in the file. The processes that share the file add numbers, and define the meaning of each note and sum. Only
 * the last two notes are defined here: processes with uncounted calls, because they could not open the file. */
#define AGGSTATS_NOTES 20
#define AGGSTATS_SUMS 2
#define AGGSTATS_NOTE_MISSING (AGGSTATS_NOTES - 2U) /* there is no such file in their directories */
#define AGGSTATS_NOTE_DENIED (AGGSTATS_NOTES - 1U)  /* no permission */

/* ---- The list of named programs ----
 *
 * Processes that share the file add programs, such as programs whose calls will not be counted. The maker watches how
 * long the programs run. */

#define AGGSTATS_NAMED_MAX 1088U   /* further programs are not named */
#define AGGSTATS_NAMED_OWN_MAX 64U /* the first entries, for the file's maker; its further programs are not named */
#define AGGSTATS_NAMED_SIZE 32

enum aggstats_named_state {
    AGGSTATS_NAMED_EMPTY, /* or being written: nothing of it is valid */
    AGGSTATS_NAMED_WHOLE,
    AGGSTATS_NAMED_TAKEN_BACK,
};

/* Part of the live file: change AGGSTATS_LIVE_VERSION with it. */
struct aggstats_named_program {
    uint32_t state; /* atomic, like pid and end_ns */
    uint32_t note;  /* why, as of aggstats_recorder_note() */
    uint32_t pid;   /* 0: not known yet, or never: also if it is of another PID namespace than the file's maker */
    uint32_t unused;
    int64_t start_ns;               /* CLOCK_MONOTONIC, like the next */
    int64_t end_ns;                 /* 0: unknown. The process has executed a program that counts */
    char name[AGGSTATS_NAMED_SIZE]; /* any bytes; not terminated if it fills the array */
};

/* An entry has one writer and is never used again, so a reader sees all of it or nothing. */
struct aggstats_named {
    uint64_t namespace; /* of the maker's PIDs; 0: unknown. Never changes */
    uint64_t count;     /* atomic; of the maker's too, used or not; may be larger than the array */
    struct aggstats_named_program programs[AGGSTATS_NAMED_MAX];
};

/* Takes no lock and no memory, so it may be called between vfork and exec. May change errno
 * pid:     0: not known yet, or never
 * Returns the program, for the next functions; NULL: there are too many */
struct aggstats_named_program *aggstats_named_add(struct aggstats_named *named, uint32_t note, const char *name,
                                                  uint32_t pid);

/* Its process, which was not known yet. May change errno */
void aggstats_named_set_pid(const struct aggstats_named *named, struct aggstats_named_program *program, uint32_t pid);

/* It was not executed. */
void aggstats_named_take_back(struct aggstats_named_program *program);

/* A process counts now, whatever it was before. */
void aggstats_named_end(struct aggstats_named *named, uint32_t pid);

/* ---- Making and joining ---- */

/* As aggstats_recorder_create(), with a live file in which that many threads of other processes may count at one time;
 * fewer if the process may not make so large a file, most of which is a hole (RLIMIT_FSIZE).
 * shared_threads: 1..AGGSTATS_SHARED_THREADS_MAX
 * groupings:      for which the file has room, as bits (1 << AGGSTATS_BY_FILE); 0: none (aggstats/shared_groups.h). A
 *                 file that must be small has no room for groupings */
int aggstats_recorder_create_shared(const struct aggstats_recorder_options *options, uint64_t shared_threads,
                                    unsigned groupings, struct aggstats_recorder **ret_recorder);

/* From now on counts in a shared live file. The file must have these operations, in this order. The calling thread gets
 * a block at once, other threads get a block at their first calls.
 * has_borrowed_memory: the memory is another process's, as after vfork(2)
 * Owner:   the process, for as long as it lives. The recorder may be passed to aggstats_shared_begin(), to functions
 *          that end a call, to aggstats_recorder_note() and _sum(), to those of aggstats/watched.h, and to nothing else
 * Errors:  -EBADMSG not such a file, those of opening and mapping it, -ENOMEM
 * Fork:    a child, however it is made, counts in the file as a process of its own. It and all new threads need the
 *          file's path then. Calls of a thread that cannot open it are not counted, and the file has a note of the
 *          process, or says that it is incomplete
 * Files:   none stays open
 * Signals: not in a handler */
int aggstats_recorder_join(const char *live_path, const char *const *op_names, unsigned op_count,
                           bool has_borrowed_memory, struct aggstats_recorder **ret_recorder);

/* Call before a process is made that shares this memory, such as by vfork(2): notes whose it is, if no call has yet.
 * Threads: any, also without a thread area */
void aggstats_shared_lend_memory(struct aggstats_recorder *recorder);

/* ---- Counting ---- */

/* Where the calling thread counts an op that it has not called before. */
struct aggstats_place aggstats_shared_place_slow(struct aggstats_recorder *recorder, unsigned op);

static AGGSTATS_ALWAYS_INLINE struct aggstats_place aggstats_shared_place(struct aggstats_recorder *recorder,
                                                                          unsigned op) {
    struct aggstats_block *block = aggstats_own_block(recorder);
    const size_t place = aggstats_thread_cache.places[op];
    if (__builtin_expect(place == 0, 0))
        return aggstats_shared_place_slow(recorder, op);
    const size_t offset_bytes = AGGSTATS_OPS_MAX + (place - 1) * aggstats_hot(recorder)->counters_stride_bytes;
    return (struct aggstats_place){block, (struct aggstats_counters *)(void *)(block->counters + offset_bytes)};
}

/* As aggstats_begin(). */
static AGGSTATS_ALWAYS_INLINE struct aggstats_span aggstats_shared_begin(struct aggstats_recorder *recorder,
                                                                         unsigned op, uint64_t object, uint64_t pid) {
    return aggstats_begin_in(recorder, aggstats_shared_place(recorder, op), op, object, pid);
}

/* Set while this thread, in its first call that counts, makes calls for the library itself to get its block. Wrappers
 * of libc's functions must not count these, or they would recurse. */
extern AGGSTATS_THREAD_LOCAL bool aggstats_shared_is_inside;

/* Adds to a number. It wraps around.
 * note:    below AGGSTATS_NOTES
 * Threads: any */
void aggstats_recorder_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more);

/* The same of a larger number. sum: below AGGSTATS_SUMS */
void aggstats_recorder_sum(struct aggstats_recorder *recorder, unsigned sum, uint64_t more);

/* The programs that are named in the shared file, where others write too. */
struct aggstats_named *aggstats_recorder_named(struct aggstats_recorder *recorder);

/* ---- For the process that made the file ----
 *
 * Its snapshots show the counts of all threads, and are sampled profiles if it has set an interval. Resets, pauses and
 * rotations are for all threads too. Counts of threads that ended before a reset are not shown after it. If a thread
 * ended during a call, as by exec or SIGKILL, the call is not shown as in flight. It stays counted, and never ends.
 *
 * Processes of other users may count in the file, and may write anything there at any time. They can make the maker's
 * profile wrong, and nothing else: the maker does not map their part of the file, and checks all data read from it. */

/* Resets change none of them. */
struct aggstats_shared_facts {
    uint64_t threads_max;     /* maximum number of threads counting at one time */
    uint64_t crowded_threads; /* threads beyond threads_max: their calls are missing */
    uint64_t broken_threads;  /* threads with invalid counters at the latest reading: their calls are missing */
    uint32_t notes[AGGSTATS_NOTES];
    uint64_t sums[AGGSTATS_SUMS]; /* of larger numbers */
};
void aggstats_recorder_shared_facts(const struct aggstats_recorder *recorder, struct aggstats_shared_facts *ret_facts);

/* As aggstats_recorder_note(). Threads: any */
void aggstats_maker_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more);

/* As aggstats_named_add() and its relatives, for programs that the maker itself executes. Returns the number of the
 * program, for the next functions; -1: there are too many.
 * Threads: one at a time */
int aggstats_maker_name(struct aggstats_recorder *recorder, unsigned note, const char *name);
void aggstats_maker_name_pid(const struct aggstats_recorder *recorder, int number, uint32_t pid);
void aggstats_maker_name_take_back(const struct aggstats_recorder *recorder, int number);

/* Copies the named programs. Any text may be a name, any number a pid or time. */
void aggstats_maker_read_named(const struct aggstats_recorder *recorder, struct aggstats_named *ret_named);

/* Returns how many threads have a call in flight, including calls that may turn out not to count (aggstats/watched.h).
 * ret_ops: bit i: there is one of op i; may be NULL
 * Threads: any; takes a system call for each block that was ever taken */
unsigned aggstats_recorder_shared_in_flight(struct aggstats_recorder *recorder, uint64_t *ret_ops);

#endif
