/* Sentences: "WAITER waits for THING, held by HOLDER, which waits for THING, ...". */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "holders_text.h"
#include "str.h"

#define MORE "..."

/* Adds a name. Names of others have any bytes. */
static void add(struct str *text, const char *name) {
    const char *character;
    size_t length;
    while ((length = next_character(&name, &character)) > 0)
        if (is_obeyed_by_terminals(character, length))
            str_add(text, "?");
        else
            str_add_bytes(text, character, length);
}

/* ---- Parties ---- */

/* "postgres 4711" */
static void add_process(struct str *text, const struct aggstats_party *party) {
    add(text, party->name[0] ? party->name : "process");
    str_addf(text, " %" PRIu64, party->process);
}

/* The holder was named before. */
static void add_follower(struct str *text, const struct aggstats_link *link) {
    const struct aggstats_party *waiter = &link->waiter;
    if (link->is_all) {
        str_add(text, ", all threads of which");
    } else if (waiter->thread == 0) {
        str_add(text, ", which");
    } else if (waiter->thread == waiter->process) {
        str_add(text, ", whose main thread");
    } else {
        str_addf(text, ", whose thread %" PRIu64, waiter->thread);
    }
}

/* ---- What is waited for ---- */

static void add_of(struct str *text, const char *thing, const char *name, const char *unknown) {
    str_add(text, thing);
    add(text, name[0] ? name : unknown);
}

static const struct thing {
    const char *words; /* before the name of the object */
    const char *unknown;
    const char *held_by; /* NULL: held or taken */
} things[AGGSTATS_CAUSE_CLASSES] = {
    [AGGSTATS_CAUSE_FLOCK] = {"the flock of ", "a file", NULL},
    [AGGSTATS_CAUSE_FCNTL] = {"the fcntl lock of ", "a file", NULL},
    [AGGSTATS_CAUSE_LEASE] = {"the lease of ", "a file", NULL},
    [AGGSTATS_CAUSE_LOCK] = {"the kernel's lock in ", "an unknown function", NULL},
    [AGGSTATS_CAUSE_FROZEN] = {"the frozen file system ", "", NULL},
    [AGGSTATS_CAUSE_FUSE] = {"the FUSE file system ", "", ", served by "},
    [AGGSTATS_CAUSE_SERVER] = {" of ", "", NULL},
    [AGGSTATS_CAUSE_PIPE_ROOM] = {"room in ", "a pipe", ", read by "},
    [AGGSTATS_CAUSE_PIPE_DATA] = {"data from ", "a pipe", ", written by "},
    [AGGSTATS_CAUSE_DISK] = {"the disk ", "", NULL},
};

static void add_thing(struct str *text, const struct aggstats_link *link) {
    const struct thing *thing = &things[link->thing];
    if (link->thing == AGGSTATS_CAUSE_SERVER)
        add_of(text, "the server ", link->source, "");
    if (thing->words)
        add_of(text, thing->words, link->object, thing->unknown);
    if (link->thing != AGGSTATS_CAUSE_DISK)
        return;
    if (link->has_in_flight)
        str_addf(text, " (%" PRIu64 " request%s in flight)", link->in_flight, link->in_flight == 1 ? "" : "s");
    if (link->source[0])
        add_of(text, ", which is the file ", link->source, "");
    if (link->group[0])
        add_of(text, ", limited by the waiter's control group ", link->group, "");
}

static void add_holder(struct str *text, const struct aggstats_link *link) {
    const char *held_by = things[link->thing].held_by;
    switch (link->relation) {
    case AGGSTATS_NOBODY_KNOWN:
        return;
    case AGGSTATS_BY_DESCRIPTION:
        str_add(text, ", held by an open file description");
        break;
    case AGGSTATS_BY_UNSEEN:
        str_add(text, ", held by a process that cannot be seen");
        break;
    case AGGSTATS_ASKED_BEFORE:
        str_add(text, ", for which ");
        add_process(text, &link->holder);
        str_add(text, " asked before");
        break;
    case AGGSTATS_HELD:
    case AGGSTATS_TAKEN:
        str_add(text, held_by ? held_by : link->relation == AGGSTATS_TAKEN ? ", taken by " : ", held by ");
        add_process(text, &link->holder);
        break;
    }
    if (link->others > 0)
        str_addf(text, " (and %" PRIu64 " other%s)", link->others, link->others == 1 ? "" : "s");
}

/* ---- Sentences ---- */

static void add_wait(struct str *text, const struct aggstats_link *link) {
    if (link->thing != AGGSTATS_CAUSE_OTHER) {
        str_add(text, " waits for ");
        add_thing(text, link);
        add_holder(text, link);
    } else if (link->cause.words[0]) {
        str_add(text, link->is_all ? " are " : " is ");
        add(text, link->cause.words);
    } else {
        str_add(text, ": what it waits for cannot be seen");
    }
}

static void add_rest(struct str *text, const struct aggstats_chain *chain) {
    for (size_t i = 1; i < chain->count; i++) {
        const struct aggstats_link *link = &chain->links[i];
        if (link->waiter.process != 0) {
            add_follower(text, link);
            add_wait(text, link);
        } else { /* the file of a loop device */
            str_add(text, link->thing == AGGSTATS_CAUSE_DISK ? " on " : " in ");
            add_thing(text, link);
            add_holder(text, link);
        }
    }
    if (chain->is_circle)
        str_add(text, ": a circle");
}

/* A text that is too long is cut between two characters. */
static const char *finish(const struct str *text, char *ret_text, size_t size_bytes) {
    assert(size_bytes >= sizeof(MORE));
    const char *whole = str_text(text);
    const bool is_cut = text->length >= size_bytes;
    size_t length = is_cut ? size_bytes - sizeof(MORE) : text->length;
    while (is_cut && length > 0 && ((unsigned char)whole[length] & 0xc0) == 0x80) /* within a character */
        length--;
    memcpy(ret_text, whole, length);
    memcpy(ret_text + length, is_cut ? MORE : "", is_cut ? sizeof(MORE) : 1);
    return ret_text;
}

const char *holders_format(const struct aggstats_chain *chain, char *ret_text, size_t size_bytes) {
    CLEANUP_STR struct str text = {0};
    const struct aggstats_link *first = &chain->links[0];
    add_process(&text, &first->waiter);
    if (first->waiter.thread != 0 && first->waiter.thread != first->waiter.process)
        str_addf(&text, " (thread %" PRIu64 ")", first->waiter.thread);
    add_wait(&text, first);
    add_rest(&text, chain);
    return finish(&text, ret_text, size_bytes);
}

const char *holders_format_thing(const struct aggstats_chain *chain, char *ret_text, size_t size_bytes) {
    CLEANUP_STR struct str text = {0};
    if (chain && chain->links[0].thing != AGGSTATS_CAUSE_OTHER) {
        add_thing(&text, &chain->links[0]);
        add_holder(&text, &chain->links[0]);
        add_rest(&text, chain);
    }
    return finish(&text, ret_text, size_bytes);
}
