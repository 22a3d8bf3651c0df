/* What threads waited for, as a page of text. */
#ifndef WAIT_PAGE_H
#define WAIT_PAGE_H

#include "sheet.h"
#include "wait_watch.h"

#define WAIT_PAGE_ROWS 12

struct wait_page_options {
    enum wait_by by;   /* by nobody: below each cause stand the programs that waited longest */
    bool has_work;     /* waits for work have rows, too */
    bool has_stacks;   /* functions of the kernel below each row */
    bool has_no_names; /* by nobody: only the causes */
    bool has_no_hints; /* options that show more are not named */
    size_t rows_max;   /* 0: all */
    const char *whose; /* "process 4711 (postgres)"; NULL: of all of the machine */
    bool is_of_locks;  /* causes are places of locks (lock_watch.h) */
};

/* by_cause: made by nobody
 * by_who:   made as the options have it; if that is by nobody, by program */
void wait_page_put(struct sheet *sheet, const struct wait_watch *watch, const struct wait_view *by_cause,
                   const struct wait_view *by_who, const struct wait_page_options *options);

/* ---- Locks of the kernel ------------------------------------------------------------------------- */

/* Puts for which locks of the kernel threads fought.
 * Errors:  -ENOMEM */
int wait_page_put_locks(struct sheet *sheet, const struct wait_watch *watch, const struct wait_page_options *options);

#define WAIT_PAGE_SENTENCE_SIZE 256

/* How long threads have fought for locks, asleep and spinning, as a sentence. A pure function */
void wait_page_describe_locks(uint64_t asleep_ns, uint64_t spinning_ns, bool ascii,
                              char ret_text[WAIT_PAGE_SENTENCE_SIZE]);

/* ---- What could not be counted -------------------------------------------------------------------- */

/* What is counted. */
struct wait_losses_words {
    const char *several;      /* "waits" */
    const char *one_was;      /* "wait was" */
    const char *several_were; /* "waits were" */
};

/* Adds "3 waits were not counted: there was no room in the kernel."; nothing if nothing was lost. */
void wait_losses_add(struct str *text, const struct waits_losses *losses, const struct wait_losses_words *words);

/* Whether nothing was lost. */
bool wait_losses_are_none(const struct waits_losses *losses);

#endif
