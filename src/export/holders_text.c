/* Sentences: "WAITER waits for THING, held by HOLDER, which waits for THING, ...". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "holders_text.h"

#define MORE "..."

struct text {
    char *bytes;
    size_t size;
    size_t length;
    size_t cut_at;
    bool is_cut;
};

/* ---- Characters ---- */

/* Of a text that is too long a place near the end is remembered, from which "..." fits. */
static void add_character(struct text *text, const char *character, size_t length) {
    text->is_cut = text->is_cut || text->length + length >= text->size;
    if (text->is_cut)
        return;
    if (text->length + sizeof(MORE) <= text->size)
        text->cut_at = text->length;
    memcpy(text->bytes + text->length, character, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

/* Names of others have any bytes. */
static void add(struct text *text, const char *added) {
    const char *character;
    size_t length;
    while ((length = next_character(&added, &character)) > 0)
        if (is_obeyed_by_terminals(character, length))
            add_character(text, "?", 1);
        else
            add_character(text, character, length);
}

static void add_number(struct text *text, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    add(text, digits);
}

/* "3 requests" */
static void add_count(struct text *text, uint64_t count, const char *thing) {
    add_number(text, count);
    add(text, thing);
    add(text, count == 1 ? "" : "s");
}

/* ---- Parties ---- */

/* "postgres 4711" */
static void add_process(struct text *text, const struct aggstats_party *party) {
    add(text, party->name[0] ? party->name : "process");
    add(text, " ");
    add_number(text, party->process);
}

static void add_waiter(struct text *text, const struct aggstats_party *waiter) {
    add_process(text, waiter);
    if (waiter->thread == 0 || waiter->thread == waiter->process)
        return;
    add(text, " (thread ");
    add_number(text, waiter->thread);
    add(text, ")");
}

/* The holder was named before. */
static void add_follower(struct text *text, const struct aggstats_link *link) {
    const struct aggstats_party *waiter = &link->waiter;
    if (link->is_all) {
        add(text, ", all threads of which");
    } else if (waiter->thread == 0) {
        add(text, ", which");
    } else if (waiter->thread == waiter->process) {
        add(text, ", whose main thread");
    } else {
        add(text, ", whose thread ");
        add_number(text, waiter->thread);
    }
}

/* ---- What is waited for ---- */

static void add_of(struct text *text, const char *thing, const char *name, const char *unknown) {
    add(text, thing);
    add(text, name[0] ? name : unknown);
}

static void add_disk(struct text *text, const struct aggstats_link *link) {
    add_of(text, "the disk ", link->object, "");
    if (link->has_in_flight) {
        add(text, " (");
        add_count(text, link->in_flight, " request");
        add(text, " in flight)");
    }
    if (link->source[0])
        add_of(text, ", which is the file ", link->source, "");
    if (link->group[0])
        add_of(text, ", limited by the waiter's control group ", link->group, "");
}

static void add_thing(struct text *text, const struct aggstats_link *link) {
    switch (link->thing) {
    case AGGSTATS_CAUSE_FLOCK:
        add_of(text, "the flock of ", link->object, "a file");
        break;
    case AGGSTATS_CAUSE_FCNTL:
        add_of(text, "the fcntl lock of ", link->object, "a file");
        break;
    case AGGSTATS_CAUSE_LEASE:
        add_of(text, "the lease of ", link->object, "a file");
        break;
    case AGGSTATS_CAUSE_LOCK:
        add_of(text, "the kernel's lock in ", link->object, "an unknown function");
        break;
    case AGGSTATS_CAUSE_FROZEN:
        add_of(text, "the frozen file system ", link->object, "");
        break;
    case AGGSTATS_CAUSE_FUSE:
        add_of(text, "the FUSE file system ", link->object, "");
        break;
    case AGGSTATS_CAUSE_SERVER:
        add_of(text, "the server ", link->source, "");
        add_of(text, " of ", link->object, "");
        break;
    case AGGSTATS_CAUSE_PIPE_ROOM:
        add_of(text, "room in ", link->object, "a pipe");
        break;
    case AGGSTATS_CAUSE_PIPE_DATA:
        add_of(text, "data from ", link->object, "a pipe");
        break;
    case AGGSTATS_CAUSE_DISK:
        add_disk(text, link);
        break;
    default:
        break;
    }
}

static const char *verb_of(const struct aggstats_link *link) {
    switch (link->thing) {
    case AGGSTATS_CAUSE_FUSE:
        return ", served by ";
    case AGGSTATS_CAUSE_PIPE_ROOM:
        return ", read by ";
    case AGGSTATS_CAUSE_PIPE_DATA:
        return ", written by ";
    default:
        return link->relation == AGGSTATS_TAKEN ? ", taken by " : ", held by ";
    }
}

static void add_others(struct text *text, size_t count) {
    if (count == 0)
        return;
    add(text, " (and ");
    add_count(text, count, " other");
    add(text, ")");
}

static void add_holder(struct text *text, const struct aggstats_link *link) {
    switch (link->relation) {
    case AGGSTATS_NOBODY_KNOWN:
        return;
    case AGGSTATS_BY_DESCRIPTION:
        add(text, ", held by an open file description");
        break;
    case AGGSTATS_BY_UNSEEN:
        add(text, ", held by a process that cannot be seen");
        break;
    case AGGSTATS_ASKED_BEFORE:
        add(text, ", for which ");
        add_process(text, &link->holder);
        add(text, " asked before");
        break;
    case AGGSTATS_HELD:
    case AGGSTATS_TAKEN:
        add(text, verb_of(link));
        add_process(text, &link->holder);
        break;
    }
    add_others(text, link->others);
}

/* ---- Sentences ---- */

static void add_wait(struct text *text, const struct aggstats_link *link) {
    if (link->thing != AGGSTATS_CAUSE_OTHER) {
        add(text, " waits for ");
        add_thing(text, link);
        add_holder(text, link);
    } else if (link->cause.words[0]) {
        add(text, link->is_all ? " are " : " is ");
        add(text, link->cause.words);
    } else {
        add(text, ": what it waits for cannot be seen");
    }
}

/* The file of a loop device. */
static void add_place(struct text *text, const struct aggstats_link *link) {
    add(text, link->thing == AGGSTATS_CAUSE_DISK ? " on " : " in ");
    add_thing(text, link);
    add_holder(text, link);
}

static void add_rest(struct text *text, const struct aggstats_chain *chain) {
    for (size_t i = 1; i < chain->count; i++) {
        const struct aggstats_link *link = &chain->links[i];
        if (link->waiter.process == 0) {
            add_place(text, link);
            continue;
        }
        add_follower(text, link);
        add_wait(text, link);
    }
    if (chain->is_circle)
        add(text, ": a circle");
}

static const char *finish(struct text *text) {
    if (text->is_cut)
        memcpy(text->bytes + text->cut_at, MORE, sizeof(MORE));
    return text->bytes;
}

const char *holders_format(const struct aggstats_chain *chain, char *ret_text, size_t size_bytes) {
    struct text text = {.bytes = ret_text, .size = size_bytes};
    const struct aggstats_link *first = &chain->links[0];
    ret_text[0] = '\0';
    add_waiter(&text, &first->waiter);
    add_wait(&text, first);
    add_rest(&text, chain);
    return finish(&text);
}

const char *holders_format_thing(const struct aggstats_chain *chain, char *ret_text, size_t size_bytes) {
    struct text text = {.bytes = ret_text, .size = size_bytes};
    ret_text[0] = '\0';
    if (!chain || chain->links[0].thing == AGGSTATS_CAUSE_OTHER)
        return ret_text;
    add_thing(&text, &chain->links[0]);
    add_holder(&text, &chain->links[0]);
    add_rest(&text, chain);
    return finish(&text);
}
