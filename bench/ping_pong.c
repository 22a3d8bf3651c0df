/* Two processes on one CPU that wake each other by pipes: two context switches for each round trip.
 *
 * usage: ping_pong ROUND_TRIPS */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void pass_on(int from, int to, long count, int is_first) {
    char byte = 0;
    for (long i = 0; i < count; i++)
        if ((is_first && write(to, &byte, 1) != 1) || read(from, &byte, 1) != 1 ||
            (!is_first && write(to, &byte, 1) != 1))
            exit(1);
}

int main(int argc, char **argv) {
    const long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    int there[2];
    int back[2];
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)sched_getcpu(), &cpus);
    if (count <= 0 || sched_setaffinity(0, sizeof(cpus), &cpus) < 0 || pipe(there) < 0 || pipe(back) < 0) {
        fprintf(stderr, "usage: ping_pong ROUND_TRIPS\n");
        return 2;
    }
    const pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        pass_on(there[0], back[1], count, 0);
        _exit(0);
    }
    pass_on(back[0], there[1], count, 1);
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
