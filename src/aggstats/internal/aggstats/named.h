/* libaggstats, inside this project: the list of named programs in a shared live file. Processes that share the file add
 * programs, such as programs whose calls will not be counted. The process that made the file watches how long the
 * programs run. */
#ifndef AGGSTATS_NAMED_H
#define AGGSTATS_NAMED_H

#include <stdint.h>

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

#endif
