/* The thread looks at all programs a hundred times a second, and at once when one that it watches ends. */
#include "run_unseen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "quiet_thread.h"

#define LOOK_MS 10
#define WATCHED_MAX 64U /* each has a descriptor */

_Static_assert(AGGSTATS_NAMED_SIZE < AGGSTATS_UNSEEN_NAME_SIZE, "names fit");

/* ---- Watching ----------------------------------------------------------------------------------- */

/* The time between two moments; -1: the second is not later, or is in the future. start_ns: any number */
static int64_t time_between_ns(int64_t start_ns, int64_t end_ns) {
    return start_ns < 0 || start_ns > end_ns || end_ns > read_clock_ns(CLOCK_MONOTONIC) ? -1 : end_ns - start_ns;
}

static void end_life(struct run_unseen *unseen, struct run_unseen_life *life, int64_t least_ns, int64_t most_ns) {
    life->is_over = true;
    life->is_known = least_ns >= 0 && most_ns >= least_ns;
    life->least_ns = least_ns;
    life->most_ns = most_ns;
    if (life->pid_fd > 0) {
        close(life->pid_fd);
        unseen->watched_count--;
    }
    life->pid_fd = 0;
}

/* Begins to watch new programs, and notes which have ended. */
static void look_at_all(struct run_unseen *unseen) {
    aggstats_maker_read_named(unseen->recorder, &unseen->named);
    for (uint64_t i = 0; i < unseen->named.count; i++) {
        const struct aggstats_named_program *program = &unseen->named.programs[i];
        struct run_unseen_life *life = &unseen->lives[i];
        if (life->is_of_before || life->is_over || program->state != AGGSTATS_NAMED_WHOLE)
            continue;
        if (life->pid_fd == 0 && program->pid != 0 && unseen->watched_count < WATCHED_MAX) {
            const int fd = (int)syscall(SYS_pidfd_open, program->pid, 0);
            if (fd > 0) {
                life->pid_fd = fd;
                unseen->watched_count++;
            } else if (errno == ESRCH) {
                end_life(unseen, life, 0, time_between_ns(program->start_ns, read_clock_ns(CLOCK_MONOTONIC)));
            } else {
                life->is_over = true;
            }
        }
        struct pollfd ended = {.fd = life->pid_fd, .events = POLLIN};
        if (life->pid_fd > 0 && (program->end_ns != 0 || poll(&ended, 1, 0) == 1)) {
            const int64_t end_ns = program->end_ns != 0 ? program->end_ns : read_clock_ns(CLOCK_MONOTONIC);
            const int64_t time_ns = time_between_ns(program->start_ns, end_ns);
            end_life(unseen, life, time_ns, time_ns);
        }
    }
}

static void *watch(void *argument) {
    struct run_unseen *unseen = argument;
    struct pollfd fds[WATCHED_MAX + 1] = {{.fd = unseen->stop_fds[0]}}; /* then the watched programs */
    do {
        nfds_t used = 1;
        pthread_mutex_lock(&unseen->lock);
        look_at_all(unseen);
        for (uint64_t i = 0; i < unseen->named.count && used <= WATCHED_MAX; i++)
            if (unseen->lives[i].pid_fd > 0)
                fds[used++] = (struct pollfd){.fd = unseen->lives[i].pid_fd, .events = POLLIN};
        pthread_mutex_unlock(&unseen->lock);
        poll(fds, used, LOOK_MS);
    } while (!(fds[0].revents & POLLHUP));
    return NULL;
}

void run_unseen_begin(struct run_unseen *unseen, struct aggstats_recorder *recorder) {
    if (!unseen->recorder) {
        if (pipe2(unseen->stop_fds, O_CLOEXEC) < 0)
            return;
        unseen->recorder = recorder;
        pthread_mutex_init(&unseen->lock, NULL);
        if (quiet_thread_start(&unseen->thread, watch, unseen) != 0) {
            unseen->recorder = NULL;
            pthread_mutex_destroy(&unseen->lock);
            close(unseen->stop_fds[0]);
            close(unseen->stop_fds[1]);
            return;
        }
    }
    pthread_mutex_lock(&unseen->lock);
    aggstats_maker_read_named(unseen->recorder, &unseen->named);
    for (uint64_t i = 0; i < unseen->named.count; i++) {
        if (unseen->lives[i].pid_fd > 0)
            end_life(unseen, &unseen->lives[i], 0, 0);
        unseen->lives[i].is_of_before = unseen->named.programs[i].state != AGGSTATS_NAMED_EMPTY;
    }
    pthread_mutex_unlock(&unseen->lock);
}

void run_unseen_finish(struct run_unseen *unseen) {
    if (!unseen->recorder)
        return;
    run_unseen_begin(unseen, NULL);
    close(unseen->stop_fds[1]);
    pthread_join(unseen->thread, NULL);
    close(unseen->stop_fds[0]);
    pthread_mutex_destroy(&unseen->lock);
    unseen->recorder = NULL;
}

/* ---- Telling ------------------------------------------------------------------------------------ */

/* All programs of one name. */
struct sum {
    struct aggstats_unseen_program program;
    uint64_t known_count; /* runs with a known time */
};

/* A program that still runs has run until now. ret_sums: of AGGSTATS_NAMED_MAX + 1. Returns how many */
static size_t add_up(const struct run_unseen *unseen, unsigned note, enum aggstats_unseen kind, struct sum *ret_sums) {
    size_t count = 0;
    for (uint64_t i = 0; i < unseen->named.count; i++) {
        const struct aggstats_named_program *program = &unseen->named.programs[i];
        const struct run_unseen_life *life = &unseen->lives[i];
        size_t place = 0;
        if (life->is_of_before || program->state != AGGSTATS_NAMED_WHOLE || program->note != note)
            continue;
        ret_sums[count].program.kind = kind;
        memcpy(ret_sums[count].program.name, program->name, AGGSTATS_NAMED_SIZE);
        while (strcmp(ret_sums[place].program.name, ret_sums[count].program.name) != 0)
            place++;
        count += place == count;
        struct sum *sum = &ret_sums[place];
        const int64_t until_now_ns = time_between_ns(program->start_ns, read_clock_ns(CLOCK_MONOTONIC));
        sum->program.runs++;
        if (life->is_over ? !life->is_known : life->pid_fd == 0 || until_now_ns < 0)
            continue;
        sum->known_count++;
        sum->program.least_ns += (uint64_t)(life->is_over ? life->least_ns : until_now_ns);
        sum->program.most_ns += (uint64_t)(life->is_over ? life->most_ns : until_now_ns);
    }
    return count;
}

static int compare(const void *a, const void *b) {
    const struct aggstats_unseen_program *first = &((const struct sum *)a)->program;
    const struct aggstats_unseen_program *second = &((const struct sum *)b)->program;
    if (first->least_ns != second->least_ns)
        return first->least_ns > second->least_ns ? -1 : 1;
    return first->runs > second->runs ? -1 : first->runs < second->runs;
}

int run_unseen_add(struct run_unseen *unseen, unsigned note, enum aggstats_unseen kind,
                   struct aggstats_profile *profile) {
    CLEANUP_FREE struct sum *sums = unseen->recorder ? calloc(AGGSTATS_NAMED_MAX + 1, sizeof(*sums)) : NULL;
    int error = 0;
    if (!sums)
        return unseen->recorder ? -ENOMEM : 0;
    pthread_mutex_lock(&unseen->lock);
    look_at_all(unseen);
    const size_t count = add_up(unseen, note, kind, sums);
    pthread_mutex_unlock(&unseen->lock);
    qsort(sums, count, sizeof(*sums), compare);
    for (size_t i = 0; i < count && profile->unseen_program_count < RUN_UNSEEN_NAMES_MAX && error == 0; i++) {
        if (sums[i].known_count < sums[i].program.runs)
            sums[i].program.most_ns = 0;
        error = aggstats_profile_add_unseen(profile, &sums[i].program);
    }
    return error;
}
