/* latencies LAYER OPERATION: makes a profile of the latencies on standard input, in nanoseconds, one a line. */
#include <aggstats.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    uint64_t buckets[64] = {0};
    struct aggstats_op_profile op = {.buckets = buckets};
    if (argc != 3 || strlen(argv[2]) >= sizeof(op.name)) {
        fprintf(stderr, "usage: latencies LAYER OPERATION <NANOSECONDS\n");
        return 2;
    }
    struct aggstats_label layer = {.key = (char[]){"layer"}, .value = argv[1]};
    const struct aggstats_profile profile = {
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000},
        .labels = &layer,
        .label_count = 1,
        .ops = &op,
        .op_count = 1,
    };
    snprintf(op.name, sizeof(op.name), "%s", argv[2]);
    char line[32];
    for (char *end; fgets(line, sizeof(line), stdin); op.calls++) {
        const uint64_t latency_ns = strtoull(line, &end, 10);
        if (end == line || *end != '\n')
            break;
        op.total_cycles += latency_ns;
        buckets[aggstats_bucket_of(latency_ns, profile.resolution)]++;
        if (latency_ns > op.longest_cycles)
            op.longest_cycles = latency_ns;
    }
    if (feof(stdin) && aggstats_profile_write(&profile, stdout) == 0)
        return 0;
    fprintf(stderr, "latencies: expected a number of nanoseconds a line, and room for the profile\n");
    return 1;
}
