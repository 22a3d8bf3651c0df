/* Who a caller is, by what /proc has of threads. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats/caller_groups.h"
#include "process.h"
#include "testing.h"

typedef bool (*way_fn)(void *context, uint32_t thread, struct aggstats_identity *ret_identity);
static const way_fn ways[] = {process_identify, process_identify_first, process_identify_cgroup};
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

/* The name of a program may hold anything. */
static const char odd_name[] = "a) S 1 (b\n";

/* Run in a thread with a name of its own. Returns its argument, or NULL if the thread is not told as its process */
static void *identify_own_thread(void *way) {
    struct aggstats_identity identity;
    bool is_known = false;
    prctl(PR_SET_NAME, "thread");
    is_known = (*(const way_fn *)way)(NULL, (uint32_t)gettid(), &identity);
    return is_known && identity.id == (uint64_t)getpid() && strcmp(identity.name, odd_name) == 0 ? way : NULL;
}

TEST(thread_is_its_process, .to = 2) {
    pthread_t thread;
    void *result;
    prctl(PR_SET_NAME, odd_name);
    ck_assert_int_eq(pthread_create(&thread, NULL, identify_own_thread, (void *)(uintptr_t)&ways[_i]), 0);
    pthread_join(thread, &result);
    ck_assert_ptr_nonnull(result);
}

TEST(process_that_is_gone_is_not_known, .to = (int)WAY_COUNT) {
    struct aggstats_identity identity;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(!ways[_i](NULL, (uint32_t)child, &identity));
}

TEST(start_tells_processes_apart) {
    struct aggstats_identity identity;
    ck_assert(process_identify(NULL, (uint32_t)getpid(), &identity));
    ck_assert_uint_gt(identity.instance, 1);
}

TEST(cgroup_is_a_path) {
    struct aggstats_identity identity;
    char line[4200];
    char *path = NULL;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !path && fgets(line, sizeof(line), file))
        path = strncmp(line, "0::", 3) == 0 ? line + 3 : NULL;
    if (file)
        fclose(file);
    if (!path)
        return; /* a kernel without, or with version 1 only */
    path[strcspn(path, "\n")] = '\0';
    ck_assert(process_identify_cgroup(NULL, (uint32_t)gettid(), &identity));
    if (strlen(path) < sizeof(identity.name))
        ck_assert_str_eq(identity.name, path);
    else
        ck_assert_str_eq(identity.name + 3, path + strlen(path) - (sizeof(identity.name) - 4));
}
