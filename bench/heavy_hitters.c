/* How well profiles by file find those of a million files that take most of the time, in bounded memory. Calls on files
 * drawn by Zipf's law, with latencies over six powers of two, are counted in a recorder as a mount counts them.
 *
 * usage: heavy_hitters              prints a table for several exponents and numbers of groups: how many of the true
 *                                   top 20 are among the first 20 shown, how many statements are wrong, what was missed
 *                                   at most, and how much the process has grown
 *        heavy_hitters FILES CALLS  the same for these numbers */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"

#define TOP 20

static const char *const op_names[] = {"READ", "OPEN", "GETATTR", "LOOKUP"};
#define OP_COUNT (sizeof(op_names) / sizeof(op_names[0]))

/* A load, and its true figures. */
struct load {
    uint64_t files;
    uint64_t calls;
    double *before;   /* [files + 1]: the probability of all files before this one, not normalised */
    uint64_t *cycles; /* [files + 1]: the time taken by each, by number */
    uint64_t all_cycles;
    uint64_t random;
};

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "heavy_hitters: %s\n", what);
    exit(EXIT_FAILURE);
}

/* xorshift64. From 0 to below 1 */
static double random_share(struct load *load) {
    load->random ^= load->random << 13;
    load->random ^= load->random >> 7;
    load->random ^= load->random << 17;
    return (double)(load->random >> 11) * 0x1p-53;
}

static void load_init(struct load *load, uint64_t files, uint64_t calls, double exponent) {
    *load = (struct load){.files = files, .calls = calls, .random = 1};
    load->before = malloc((files + 1) * sizeof(*load->before));
    load->cycles = calloc(files + 1, sizeof(*load->cycles));
    if (!load->before || !load->cycles)
        fail("no memory");
    load->before[0] = 0;
    for (uint64_t file = 0; file < files; file++)
        load->before[file + 1] = load->before[file] + pow((double)(file + 1), -exponent);
}

static void load_finish(struct load *load) {
    free(load->before);
    free(load->cycles);
}

static uint64_t draw(struct load *load) {
    double wanted = random_share(load) * load->before[load->files];
    uint64_t low = 0;
    uint64_t high = load->files;
    while (low + 1 < high) {
        uint64_t middle = (low + high) / 2;
        *(load->before[middle] <= wanted ? &low : &high) = middle;
    }
    return low;
}

static bool name_file(void *unused, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    (void)unused, (void)may_wait;
    snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, "/%" PRIu64, object);
    return true;
}

static struct aggstats_recorder *create_recorder(unsigned groups_max) {
    struct aggstats_recorder *recorder = NULL;
    const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1};
    const struct aggstats_grouping_options wanted = {
        .grouping = AGGSTATS_BY_FILE, .groups_max = groups_max, .name_object = name_file};
    if (aggstats_recorder_create(&options, &recorder) < 0 ||
        (groups_max > 0 && aggstats_recorder_group(recorder, &wanted) < 0))
        fail("cannot create a recorder");
    return recorder;
}

/* Calls every file once, as a backup would, then by Zipf's law. Latencies are given, not measured. */
static void run(struct load *load, struct aggstats_recorder *recorder) {
    for (uint64_t i = 0; i < load->files + load->calls; i++) {
        uint64_t file = 1 + (i < load->files ? i : draw(load)) * 7919 % load->files;
        uint64_t latency_cycles = (uint64_t)exp2(10 + 6 * random_share(load));
        const struct aggstats_call_of of = {.thread = 1, .object = file};
        struct aggstats_span span = aggstats_begin(recorder, (unsigned)(i % OP_COUNT), file, 1);
        span.start_cycles = aggstats_clock_now(aggstats_hot(recorder)->clock_kind) - latency_cycles;
        latency_cycles = aggstats_end(recorder, &span);
        aggstats_group_add(recorder, (unsigned)(i % OP_COUNT), &of, latency_cycles);
        load->cycles[file] += latency_cycles;
        load->all_cycles += latency_cycles;
    }
}

static int compare_cycles(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a < b) - (a > b);
}

/* The time taken by the last of the true top. */
static uint64_t least_of_top(const struct load *load) {
    uint64_t *sorted = malloc((load->files + 1) * sizeof(*sorted));
    if (!sorted)
        fail("no memory");
    memcpy(sorted, load->cycles, (load->files + 1) * sizeof(*sorted));
    qsort(sorted, load->files + 1, sizeof(*sorted), compare_cycles);
    uint64_t least = sorted[TOP - 1];
    free(sorted);
    return least;
}

static uint64_t total_of(const struct aggstats_group *group) {
    uint64_t cycles = 0;
    for (size_t i = 0; i < group->profile.op_count; i++)
        cycles += group->profile.ops[i].total_cycles;
    return cycles;
}

/* The quality of a profile. */
struct verdict {
    unsigned found;    /* of the true top among the first TOP */
    unsigned wrong;    /* statements that are not true */
    double missed_max; /* the largest bound, as a share of all */
};

static struct verdict judge(const struct load *load, const struct aggstats_profile *profile) {
    struct verdict verdict = {0};
    uint64_t least = least_of_top(load);
    size_t place = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        if (group->who != AGGSTATS_WHO_ID)
            continue;
        uint64_t truth = load->cycles[strtoull(group->name + 1, NULL, 10)];
        uint64_t total = total_of(group);
        double missed = (double)group->missed_cycles_max;
        verdict.wrong += total > truth || truth > total + group->missed_cycles_max;
        verdict.missed_max = fmax(verdict.missed_max, missed / (double)load->all_cycles);
        verdict.found += place++ < TOP && truth >= least;
    }
    return verdict;
}

static long resident_kib(void) {
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r"); /* exact, while statm estimates */
    while (file && kib < 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, "Rss:", 4) == 0)
            kib = strtol(line + 4, NULL, 10);
    if (kib < 0)
        fail("cannot read /proc/self/smaps_rollup");
    fclose(file);
    return kib;
}

/* So that using the memory later does not make the process grow: after a fork, pages are copied when written. */
static void touch_all(struct load *load) {
    for (uint64_t file = 0; file <= load->files; file++) {
        (void)*(const volatile double *)&load->before[file]; /* the value is not used */
        load->cycles[file] = 1;
        __asm__ volatile("" : : : "memory"); /* otherwise the compiler would merge the two writes into one, of zeroes */
        load->cycles[file] = 0;
    }
}

/* groups_max: 0: no groups. Returns how much the process has grown, in KiB */
static long measure(struct load *load, unsigned groups_max, struct verdict *ret_verdict) {
    struct aggstats_profile profile;
    load->random = 1;
    load->all_cycles = 0;
    touch_all(load);
    long before_kib = resident_kib();
    struct aggstats_recorder *recorder = create_recorder(groups_max);
    run(load, recorder);
    long grown_kib = resident_kib() - before_kib;
    if (aggstats_recorder_snapshot(recorder, &profile) < 0)
        fail("cannot take a snapshot");
    *ret_verdict = judge(load, &profile);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
    return grown_kib;
}

static void print_row(struct load *load, double exponent, unsigned groups_max) {
    struct verdict verdict;
    long grown_kib = measure(load, groups_max, &verdict);
    if (groups_max == 0)
        printf("%8.2f %8s %10s %8s %12s %8ld KiB\n", exponent, "none", "", "", "", grown_kib);
    else
        printf("%8.2f %8u %7u/%d %8u %10.3f %% %8ld KiB\n", exponent, groups_max, verdict.found, TOP, verdict.wrong,
               100 * verdict.missed_max, grown_kib);
}

/* Each row in a process of its own, with fresh memory. */
static void print_rows(uint64_t files, uint64_t calls, double exponent) {
    static const unsigned groups[] = {0, 64, 256, 1024};
    struct load load;
    load_init(&load, files, calls, exponent);
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            print_row(&load, exponent, groups[i]);
            exit(EXIT_SUCCESS);
        }
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            fail("a measurement has failed");
    }
    load_finish(&load);
}

int main(int argc, char **argv) {
    static const double exponents[] = {0.8, 0.9, 1.0, 1.2};
    uint64_t files = argc == 3 ? strtoull(argv[1], NULL, 10) : 1000003;
    uint64_t calls = argc == 3 ? strtoull(argv[2], NULL, 10) : 3000017;
    if ((argc != 1 && argc != 3) || files < TOP || calls == 0) {
        fprintf(stderr, "usage: heavy_hitters [FILES CALLS]\n");
        return 2;
    }
    printf("%" PRIu64 " files, each called once, then %" PRIu64 " calls\n", files, calls);
    printf("%8s %8s %10s %8s %12s %12s\n", "exponent", "groups", "top found", "wrong", "missed most", "memory");
    for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++)
        print_rows(files, calls, exponents[i]);
    return 0;
}
