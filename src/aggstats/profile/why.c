/* Causes: names of classes, and words. */
#include "aggstats/why.h"

#include <stdio.h>
#include <string.h>

#include "base.h"
#include "text_format.h"

static const char *const names[AGGSTATS_CAUSE_CLASSES] = {
    [AGGSTATS_CAUSE_OTHER] = "other",
    [AGGSTATS_CAUSE_UNKNOWN] = "unknown",
    [AGGSTATS_CAUSE_REST] = "rest",
    [AGGSTATS_CAUSE_RUNNING] = "running",
    [AGGSTATS_CAUSE_FUNCTION] = "function",
    [AGGSTATS_CAUSE_DISK_READ] = "disk_read",
    [AGGSTATS_CAUSE_DISK] = "disk",
    [AGGSTATS_CAUSE_STORAGE] = "storage",
    [AGGSTATS_CAUSE_FLOCK] = "flock",
    [AGGSTATS_CAUSE_FCNTL] = "fcntl",
    [AGGSTATS_CAUSE_LEASE] = "lease",
    [AGGSTATS_CAUSE_FROZEN] = "frozen",
    [AGGSTATS_CAUSE_FUSE] = "fuse",
    [AGGSTATS_CAUSE_SERVER] = "server",
    [AGGSTATS_CAUSE_PIPE_ROOM] = "pipe_room",
    [AGGSTATS_CAUSE_PIPE_DATA] = "pipe_data",
    [AGGSTATS_CAUSE_LOCK] = "lock",
    [AGGSTATS_CAUSE_MEMORY] = "memory",
    [AGGSTATS_CAUSE_CPU] = "cpu",
    [AGGSTATS_CAUSE_NETWORK] = "network",
    [AGGSTATS_CAUSE_SOCKET] = "socket",
    [AGGSTATS_CAUSE_THREAD] = "thread",
    [AGGSTATS_CAUSE_REQUESTS] = "requests",
    [AGGSTATS_CAUSE_STOPPED] = "stopped",
    [AGGSTATS_CAUSE_WORK] = "work",
};

const char *aggstats_cause_class_name(enum aggstats_cause_class class) {
    return names[class];
}

enum aggstats_cause_class aggstats_cause_class_of_name(const char *name) {
    return (enum aggstats_cause_class)word_index(names, AGGSTATS_CAUSE_CLASSES, name);
}

bool aggstats_cause_class_is_of_disk(enum aggstats_cause_class class) {
    return class == AGGSTATS_CAUSE_DISK_READ || class == AGGSTATS_CAUSE_DISK || class == AGGSTATS_CAUSE_STORAGE;
}

bool aggstats_cause_class_has_holder(enum aggstats_cause_class class) {
    return class == AGGSTATS_CAUSE_FLOCK || class == AGGSTATS_CAUSE_FCNTL || class == AGGSTATS_CAUSE_LEASE ||
           class == AGGSTATS_CAUSE_FUSE || class == AGGSTATS_CAUSE_PIPE_ROOM || class == AGGSTATS_CAUSE_PIPE_DATA;
}

bool aggstats_cause_id_valid(const char *id) {
    const size_t length = strnlen(id, AGGSTATS_CAUSE_ID_SIZE);
    static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return length > 0 && length < AGGSTATS_CAUSE_ID_SIZE && strspn(id, characters) == length;
}

bool aggstats_why_valid(const struct aggstats_why *why) {
    return (unsigned)why->kind < AGGSTATS_CAUSE_CLASSES && why->flags <= AGGSTATS_WHY_FLAGS &&
           (!why->id[0] || aggstats_cause_id_valid(why->id)) && why->words[0] &&
           memchr(why->words, '\0', sizeof(why->words));
}

bool aggstats_why_is_same(const struct aggstats_why *a, const struct aggstats_why *b) {
    const bool is_same = a->id[0] ? a->kind == b->kind : strcmp(a->words, b->words) == 0;
    return is_same && a->flags == b->flags && strcmp(a->id, b->id) == 0;
}

const char *aggstats_why_text(const struct aggstats_why *why, char ret_text[AGGSTATS_WHY_TEXT_SIZE]) {
    snprintf(ret_text, AGGSTATS_WHY_TEXT_SIZE, "%s%s%s",
             why->flags & AGGSTATS_WHY_OTHER_THREAD ? "another thread: " : "", why->words,
             why->flags & AGGSTATS_WHY_SINCE_BEFORE ? " (since before osprof attached)" : "");
    return ret_text;
}
