/* Where threads run. */
#include "cpu_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base.h"

#define FIRST_NICE 10        /* lower than at home */
#define GROUP_FIRST_NICE 5   /* lower; with 10 some of many callers waited 100 ms for the CPU of a worker */
#define GROUP_BEHIND_NICE 10 /* higher; at 19 it might wait 200 ms for a CPU that others keep busy */
#define LOWEST_NICE (-20)
#define HIGHEST_NICE 19

/* What follows so many blank-separated fields; NULL if there are fewer. */
static const char *skip_fields(const char *text, int count) {
    for (int index = 0; text && index < count; index++) {
        text = strchr(text, ' ');
        text = text ? text + 1 : NULL;
    }
    return text;
}

/* What proc_pid_stat(5) says of a thread, from the field after its name on; the name may hold anything. The thread's
 * own file: that of the process sums over all its threads. */
static const char *read_stat(uint32_t thread, char *text, size_t size_bytes) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", thread, thread);
    const char *name_end = read_beginning(AT_FDCWD, path, text, size_bytes) ? strrchr(text, ')') : NULL;
    return name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
}

int cpu_of_thread(uint32_t thread) {
    char text[1024];
    const char *cpu = skip_fields(read_stat(thread, text, sizeof(text)), 36);
    return cpu ? (int)strtol(cpu, NULL, 10) : -1;
}

/* proc_loadavg(5): "0.20 0.18 0.12 1/80 11206" */
unsigned cpu_wanting_threads(void) {
    char text[128];
    const char *wanting = read_beginning(AT_FDCWD, "/proc/loadavg", text, sizeof(text)) ? skip_fields(text, 3) : NULL;
    return wanting ? (unsigned)strtoul(wanting, NULL, 10) : 0;
}

bool cpu_is_wanted_by(pid_t thread) {
    char text[1024];
    const char *state = read_stat((uint32_t)thread, text, sizeof(text));
    return state && *state == 'R';
}

static bool set_class(pid_t thread, int class) {
    const struct sched_param param = {.sched_priority = 0};
    return sched_setscheduler(thread, class, &param) == 0;
}

/* Coming back from SCHED_IDLE takes a privilege (sched(7)), and who lacks it learns so only there. */
static void *try_the_way_back(void *ret_possible) {
    *(bool *)ret_possible = set_class(gettid(), SCHED_IDLE) && set_class(gettid(), SCHED_OTHER);
    return NULL;
}

static bool write_group_nice(int fd, int nice) {
    char text[16];
    int length = snprintf(text, sizeof(text), "%d", nice);
    return write(fd, text, (size_t)length) == length;
}

/* A second change soon after a first takes CAP_SYS_ADMIN, and who could not take one back must not make it. */
static bool may_be_changed(int fd, int nice) {
    bool changed = write_group_nice(fd, nice);
    return changed && write_group_nice(fd, nice);
}

void cpu_find_home(struct cpu_home *ret_home) {
    struct cpu_home home = {.nice = getpriority(PRIO_PROCESS, 0), .group_fd = -1};
    pthread_t thread;
    bool known = sched_getaffinity(0, sizeof(home.cpus), &home.cpus) == 0;
    if (known && sched_getscheduler(0) == SCHED_OTHER &&
        pthread_create(&thread, NULL, try_the_way_back, &home.idle_possible) == 0)
        pthread_join(thread, NULL);
    *ret_home = home;
}

/* "/autogroup-42 nice 0". It is the session's: that of another leader is none of our business. */
void cpu_find_group(struct cpu_home *home) {
    char text[64];
    const char *path = "/proc/self/autogroup";
    bool is_ours = getsid(0) == getpid() && read_beginning(AT_FDCWD, path, text, sizeof(text));
    const char *nice = is_ours ? strstr(text, " nice ") : NULL;
    CLEANUP_FD int fd = nice ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    home->group_nice = (int)strtol(nice + strlen(" nice "), NULL, 10);
    if (may_be_changed(fd, home->group_nice))
        home->group_fd = steal_fd(&fd);
}

void cpu_forget_home(struct cpu_home *home) {
    close_fd(&home->group_fd);
}

void cpu_move(pid_t thread, int cpu) {
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    sched_setaffinity(thread, sizeof(there), &there);
}

void cpu_leave(const struct cpu_home *home, pid_t thread, int cpu) {
    cpu_set_t others = home->cpus;
    CPU_CLR(cpu, &others);
    sched_setaffinity(thread, sizeof(others), &others);
    sched_setaffinity(thread, sizeof(home->cpus), &home->cpus);
}

void cpu_go_idle(pid_t thread) {
    set_class(thread, SCHED_IDLE);
}

/* The value of a thread, not of its process (setpriority(2), C library/kernel differences). */
void cpu_go_first(const struct cpu_home *home, pid_t thread) {
    set_class(thread, SCHED_OTHER);
    setpriority(PRIO_PROCESS, (id_t)thread, home->nice - FIRST_NICE);
}

void cpu_go_home(const struct cpu_home *home, pid_t thread) {
    set_class(thread, SCHED_OTHER);
    setpriority(PRIO_PROCESS, (id_t)thread, home->nice);
    sched_setaffinity(thread, sizeof(home->cpus), &home->cpus);
}

/* To go first takes more of a privilege than to come back home. */
void cpu_rank_group(const struct cpu_home *home, enum cpu_rank rank) {
    const int more[] = {[CPU_RANK_BEHIND] = GROUP_BEHIND_NICE, [CPU_RANK_FIRST] = -GROUP_FIRST_NICE};
    int nice = home->group_nice + more[rank];
    nice = nice < LOWEST_NICE ? LOWEST_NICE : nice > HIGHEST_NICE ? HIGHEST_NICE : nice;
    if (home->group_fd >= 0 && !write_group_nice(home->group_fd, nice))
        write_group_nice(home->group_fd, home->group_nice);
}

void cpu_set_home(const struct cpu_home *home, pthread_attr_t *attr) {
    if (CPU_COUNT(&home->cpus) > 0)
        pthread_attr_setaffinity_np(attr, sizeof(home->cpus), &home->cpus);
    if (!home->idle_possible)
        return;
    pthread_attr_setschedpolicy(attr, SCHED_OTHER);
    pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
}
