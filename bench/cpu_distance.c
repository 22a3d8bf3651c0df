/* How far apart two CPUs are: nanoseconds that a cache line takes from the first CPU that this process may use to the
 * second, and back. Takes the minimum of a few short measurements, since other processes may run there meanwhile.
 * Prints 0 if there is only one CPU. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define ATTEMPTS 5
#define TURNS 2000
#define CALLS_OUT 1
#define ANSWERS 2
#define ENDS 3

static atomic_int line __attribute__((aligned(128)));

static int cpu_number(const cpu_set_t *cpus, int wanted) {
    int cpu = 0;
    while (!CPU_ISSET(cpu, cpus) || wanted-- > 0)
        cpu++;
    return cpu;
}

static void go_to(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

static void *answer(void *cpu) {
    go_to(*(const int *)cpu);
    for (;;) {
        int said = atomic_load_explicit(&line, memory_order_acquire);
        if (said == ENDS)
            return NULL;
        if (said == CALLS_OUT)
            atomic_store_explicit(&line, ANSWERS, memory_order_release);
    }
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double turn_ns(void) {
    double start_ns = now_ns();
    for (int turn = 0; turn < TURNS; turn++) {
        atomic_store_explicit(&line, CALLS_OUT, memory_order_release);
        while (atomic_load_explicit(&line, memory_order_acquire) != ANSWERS)
            ;
    }
    return (now_ns() - start_ns) / TURNS;
}

/* Pins this thread. Returns a negative number if there can be no other. */
static double distance_ns(int cpu, int other_cpu) {
    pthread_t other;
    go_to(cpu);
    if (pthread_create(&other, NULL, answer, &other_cpu) != 0)
        return -1;
    double least_ns = turn_ns();
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
        double ns = turn_ns();
        least_ns = ns < least_ns ? ns : least_ns;
    }
    atomic_store(&line, ENDS);
    pthread_join(other, NULL);
    return least_ns;
}

int main(void) {
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0) {
        perror("cpu_distance: sched_getaffinity");
        return 1;
    }
    double ns = CPU_COUNT(&cpus) > 1 ? distance_ns(cpu_number(&cpus, 0), cpu_number(&cpus, 1)) : 0;
    if (ns < 0) {
        fprintf(stderr, "cpu_distance: cannot start a thread\n");
        return 1;
    }
    printf("%.0f\n", ns);
    return 0;
}
