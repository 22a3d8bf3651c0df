#include "run_unseen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "quiet_thread.h"
#include "units.h"

#define LOOK_MS 10
#define WATCHED_MAX 64U /* each has a descriptor */
#define PRECISE 0.1     /* both bounds differ by no more than this part of the larger one */
#define NAME_SIZE (AGGSTATS_NAMED_SIZE + 1)

/* ---- Watching ----------------------------------------------------------------------------------- */

/* How long it is from one moment to a later one; -1: that cannot be. start_ns: any number */
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

/* Begins to watch it, or notes that it has ended before. */
static void find(struct run_unseen *unseen, const struct aggstats_named_program *program,
                 struct run_unseen_life *life) {
    if (program->pid == 0 || unseen->watched_count >= WATCHED_MAX)
        return;
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

static void look_at(struct run_unseen *unseen, const struct aggstats_named_program *program,
                    struct run_unseen_life *life) {
    if (life->is_over || program->state != AGGSTATS_NAMED_WHOLE)
        return;
    if (life->pid_fd == 0)
        find(unseen, program, life);
    struct pollfd ended = {.fd = life->pid_fd, .events = POLLIN};
    if (life->pid_fd > 0 && (program->end_ns != 0 || poll(&ended, 1, 0) == 1)) {
        const int64_t end_ns = program->end_ns != 0 ? program->end_ns : read_clock_ns(CLOCK_MONOTONIC);
        const int64_t time_ns = time_between_ns(program->start_ns, end_ns);
        end_life(unseen, life, time_ns, time_ns);
    }
}

static void look_at_all(struct run_unseen *unseen) {
    aggstats_maker_read_named(unseen->recorder, &unseen->named);
    for (uint64_t i = 0; i < unseen->named.count; i++)
        if (!unseen->lives[i].is_of_before)
            look_at(unseen, &unseen->named.programs[i], &unseen->lives[i]);
}

/* Those that are watched, and what stops the thread. Returns how many */
static nfds_t list(const struct run_unseen *unseen, struct pollfd ret_fds[WATCHED_MAX + 1]) {
    nfds_t used = 0;
    ret_fds[used++] = (struct pollfd){.fd = unseen->stop_fds[0]};
    for (uint64_t i = 0; i < unseen->named.count && used <= WATCHED_MAX; i++)
        if (unseen->lives[i].pid_fd > 0)
            ret_fds[used++] = (struct pollfd){.fd = unseen->lives[i].pid_fd, .events = POLLIN};
    return used;
}

static void *watch(void *argument) {
    struct run_unseen *unseen = argument;
    struct pollfd fds[WATCHED_MAX + 1] = {{.fd = -1}};
    do {
        pthread_mutex_lock(&unseen->lock);
        look_at_all(unseen);
        const nfds_t count = list(unseen, fds);
        pthread_mutex_unlock(&unseen->lock);
        poll(fds, count, LOOK_MS);
    } while (!(fds[0].revents & POLLHUP));
    return NULL;
}

static void start(struct run_unseen *unseen, const struct aggstats_recorder *recorder) {
    if (pipe2(unseen->stop_fds, O_CLOEXEC) < 0)
        return;
    unseen->recorder = recorder;
    pthread_mutex_init(&unseen->lock, NULL);
    if (quiet_thread_start(&unseen->thread, watch, unseen) == 0)
        return;
    unseen->recorder = NULL;
    pthread_mutex_destroy(&unseen->lock);
    close(unseen->stop_fds[0]);
    close(unseen->stop_fds[1]);
}

void run_unseen_begin(struct run_unseen *unseen, struct aggstats_recorder *recorder) {
    if (!unseen->recorder)
        start(unseen, recorder);
    if (!unseen->recorder)
        return;
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

/* ---- Printing ----------------------------------------------------------------------------------- */

/* All programs of one name. */
struct sum {
    char name[NAME_SIZE];
    uint64_t count;
    uint64_t known_count; /* of these it is known how long they ran */
    int64_t least_ns;
    int64_t most_ns;
};

/* A program may have any name. What separates names in the text is not in them. */
static void read_name(const struct aggstats_named_program *program, char ret_name[NAME_SIZE]) {
    char raw[NAME_SIZE] = "";
    const char *at = raw;
    const char *character;
    memcpy(raw, program->name, AGGSTATS_NAMED_SIZE);
    for (size_t bytes; (bytes = next_character(&at, &character)) > 0; ret_name++)
        *ret_name =
            bytes == 1 && *character > ' ' && *character < 0x7f && !strchr(",;()", *character) ? *character : '?';
    *ret_name = '\0';
}

/* One that still runs has run until now. */
static void add_life(const struct aggstats_named_program *program, const struct run_unseen_life *life,
                     struct sum *sum) {
    const int64_t until_now_ns = time_between_ns(program->start_ns, read_clock_ns(CLOCK_MONOTONIC));
    sum->count++;
    if (life->is_over ? !life->is_known : life->pid_fd == 0 || until_now_ns < 0)
        return;
    sum->known_count++;
    sum->least_ns += life->is_over ? life->least_ns : until_now_ns;
    sum->most_ns += life->is_over ? life->most_ns : until_now_ns;
}

/* ret_sums: of AGGSTATS_NAMED_MAX. Returns how many */
static size_t add_up(const struct run_unseen *unseen, unsigned note, struct sum *ret_sums) {
    size_t count = 0;
    for (uint64_t i = 0; i < unseen->named.count; i++) {
        const struct aggstats_named_program *program = &unseen->named.programs[i];
        size_t place = 0;
        if (unseen->lives[i].is_of_before || program->state != AGGSTATS_NAMED_WHOLE || program->note != note)
            continue;
        read_name(program, ret_sums[count].name);
        while (strcmp(ret_sums[place].name, ret_sums[count].name) != 0)
            place++;
        count += place == count;
        add_life(program, &unseen->lives[i], &ret_sums[place]);
    }
    return count;
}

static int compare(const void *a, const void *b) {
    const struct sum *first = a;
    const struct sum *second = b;
    if (first->least_ns != second->least_ns)
        return first->least_ns > second->least_ns ? -1 : 1;
    return first->count > second->count ? -1 : first->count < second->count;
}

/* "busybox 1.90 s in 2 runs"; without the time, if it is not known */
static void print_sum(const struct sum *sum, FILE *stream) {
    const bool is_precise = (double)(sum->most_ns - sum->least_ns) <= PRECISE * (double)sum->most_ns;
    const bool is_all = is_precise && sum->known_count == sum->count;
    const struct units nanoseconds = {.frequency_hz = 1000000000, .ascii = true};
    fputs(sum->name, stream);
    if (sum->least_ns > 0 && sum->known_count > 0)
        fprintf(stream, " %s%s", is_all ? "" : "at least ",
                units_cycles(&nanoseconds, (double)(is_all ? sum->most_ns : sum->least_ns)).text);
    if (sum->count > 1)
        fprintf(stream, " in %llu runs", (unsigned long long)sum->count);
}

static void print_sums(struct sum *sums, size_t count, uint64_t all_count, struct run_unseen_printed *printed,
                       FILE *stream) {
    uint64_t others = all_count;
    size_t i = 0;
    qsort(sums, count, sizeof(*sums), compare);
    for (; i < count && printed->name_count < RUN_UNSEEN_NAMES_MAX; i++) {
        fputs(i > 0 ? ", " : " (", stream);
        print_sum(&sums[i], stream);
        others -= sums[i].count < others ? sums[i].count : others;
        printed->name_count++;
    }
    if (i > 0 && others > 0)
        fprintf(stream, " and %llu other%s", (unsigned long long)others, others == 1 ? "" : "s");
    if (i > 0)
        putc(')', stream);
}

void run_unseen_print(struct run_unseen *unseen, unsigned note, uint64_t count, struct run_unseen_printed *printed,
                      FILE *stream) {
    CLEANUP_FREE struct sum *sums = unseen->recorder ? calloc(AGGSTATS_NAMED_MAX + 1, sizeof(*sums)) : NULL;
    if (!sums)
        return;
    pthread_mutex_lock(&unseen->lock);
    look_at_all(unseen);
    const size_t sum_count = add_up(unseen, note, sums);
    pthread_mutex_unlock(&unseen->lock);
    print_sums(sums, sum_count, count, printed, stream);
}
