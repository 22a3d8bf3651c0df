/* Where osprof is built without libbpf. */
#include <errno.h>
#include <stdio.h>

#include "collector.h"
#include "locks.h"
#include "parts.h"
#include "waits.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int collector_check(char ret_why[COLLECTOR_WHY_SIZE]) {
    snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", part_missing(PART_BPF));
    return -ENOTSUP;
}

int collector_check_types(char ret_why[COLLECTOR_WHY_SIZE]) {
    return collector_check(ret_why);
}

bool collector_counts(enum collector_countable what) {
    return false;
}

bool collector_is_possible(void) {
    return false;
}

int collector_start_fuse(const struct fuse_requests *requests, struct collector **ret_collector,
                         char ret_why[COLLECTOR_WHY_SIZE]) {
    return collector_check(ret_why);
}

int collector_start_disks(const struct disk_requests *requests, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]) {
    return collector_check(ret_why);
}

int collector_start_calls(const struct system_calls *of, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]) {
    return collector_check(ret_why);
}

/* None of these is called: there is no collector. */

bool collector_fuse_has_ended(const struct collector *collector) {
    return !collector;
}

bool collector_call_cost(const struct collector *collector, struct call_cost *ret_cost) {
    return false;
}

bool collector_has_processes(const struct collector *collector) {
    return !collector;
}

uint64_t collector_processes_lost(const struct collector *collector) {
    return 0;
}

int collector_note_device(struct collector *collector, uint32_t device, bool holds_files) {
    return -ENOTSUP;
}

void collector_note_begun(struct collector *collector) {
}

uint64_t collector_begun_before(const struct collector *collector) {
    return 0;
}

int collector_find_under_way(struct collector *collector, uint64_t min_age_ns, collector_under_way_fn *tell,
                             void *context, uint64_t *ret_count) {
    return -ENOTSUP;
}

void collector_take_slow(struct collector *collector, collector_slow_fn *tell, void *context) {
}

uint64_t collector_slow_lost(const struct collector *collector) {
    return 0;
}

int collector_slow_fd(const struct collector *collector) {
    return -1;
}

void collector_wake_at_begin(struct collector *collector) {
}

bool collector_op_moves_bytes(unsigned op) {
    return false;
}

const char *const *collector_ops(const struct collector *collector, unsigned *ret_count) {
    *ret_count = 0;
    return NULL;
}

bool collector_has_caches(const struct collector *collector) {
    return !collector;
}

int collector_count(struct collector *collector, const struct counting_lane *lanes) {
    return -ENOTSUP;
}

void collector_group(struct collector *collector, collector_group_fn *add, void *context) {
}

bool collector_is_crowded(const struct collector *collector) {
    return !collector;
}

bool collector_name(const struct collector *collector, uint64_t object, struct collected_name *ret_name) {
    return false;
}

uint64_t collector_lost(const struct collector *collector) {
    return 0;
}

void collector_stop(struct collector *collector) {
}

void collector_finish(struct collector *collector) {
}

int waits_start(const struct process_numbers *of, struct waits **ret_waits, char ret_why[COLLECTOR_WHY_SIZE]) {
    return collector_check(ret_why);
}

int64_t waits_begin_ns(const struct waits *waits) {
    return 0;
}

int waits_read(struct waits *waits, const struct waits_readers *readers) {
    return -ENOTSUP;
}

struct waits_losses waits_lost(const struct waits *waits) {
    return (struct waits_losses){.no_room = 0};
}

void waits_finish(struct waits *waits) {
}

int waits_name_stack(struct waits *waits, uint64_t number, char **ret_functions) {
    return -ENOTSUP;
}

int locks_start(const struct waits *beside, struct locks **ret_locks, char ret_why[COLLECTOR_WHY_SIZE]) {
    return collector_check(ret_why);
}

int locks_read(struct locks *locks, const struct locks_readers *readers) {
    return -ENOTSUP;
}

struct waits_losses locks_lost(const struct locks *locks) {
    return (struct waits_losses){.no_room = 0};
}

void locks_finish(struct locks *locks) {
}

int locks_name_stack(struct locks *locks, uint64_t number, char **ret_functions) {
    return -ENOTSUP;
}
