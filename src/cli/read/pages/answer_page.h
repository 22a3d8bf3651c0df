/* The answer page: a profile in 24 lines, before any table or chart; and the commands that it recommends. */
#ifndef ANSWER_PAGE_H
#define ANSWER_PAGE_H

#include <stdbool.h>

#include "answer_model.h"
#include "calibration.h"
#include "sheet.h"

/* Where the profile came from, for recommended commands. */
struct answer_source {
    const char *profile;     /* the argument for osprof show; "": none, it is the last result; NULL: it is not saved */
    const char *layer;       /* of a recording of several; NULL: it is no recording */
    const char *by;          /* the chosen grouping and group; NULL: none */
    const char *of;          /* NULL: all */
    bool is_live;            /* of a mount whose process still records */
    bool is_run;             /* the page is of osprof run, like the next three */
    const char *directory;   /* NULL: none */
    bool has_mount;          /* osproffs was between */
    bool has_groups_unasked; /* their tables are not printed */
    bool has_groups_asked;   /* by --by: they never give way */
    bool can_see_faults;     /* osprof attach, as root here: which files page faults read */
    const char *attach;      /* sees what was not seen, on the file system of its directory; NULL: none */
};

struct answer_page {
    const struct aggstats_profile *profile;
    const struct calibration *calibration; /* may have no times */
    const struct answer_source *source;
    bool no_labels; /* the user wants no names of peaks */
    bool explain;   /* then the reasons for the names of peaks follow */
};

/* What operations of a disk are that end with _QUEUED. */
#define ANSWER_QUEUED "..._QUEUED: how long these requests waited before the disk got them."

/* Puts the page on a sheet. Minor parts have ranks, so sheet_fit() can cut the page to a screen. */
void answer_page_put(struct sheet *sheet, const struct answer_page *page);

/* Says how long programs waited for locks that the mount does not forward. */
void answer_page_put_hidden_locks(struct sheet *sheet, double cycles);

/* ---- Recommended commands ------------------------------------------------------------------------ */

/* Puts them on a sheet; none for a profile without calls.
 * wants_calibration: whether to say how more peaks get names, if the profile is of this machine
 * ranks: of the first, the second, and those behind it */
void answer_next_put(struct sheet *sheet, const struct answer_source *source, const struct aggstats_profile *profile,
                     const struct answer_model *model, bool wants_calibration, const unsigned ranks[3]);

/* How to show one layer of a recording. name: as answer_source.profile */
void answer_next_put_layer(struct sheet *sheet, const char *name, const char *layer);

/* An argument, quoted for a shell if necessary. Owner: the caller frees it. Returns NULL without memory */
char *answer_next_quote(const char *argument);

/* Whether a label with the arguments of a command is that command for a shell. The label has no quotes, so a command that
 * needs quotes, or was cut, cannot be run again. */
bool answer_next_can_be_typed(const char *command);

/* The command that looks for slow calls of a result of osprof run again, as far as its words are known for certain.
 * Owner:   the caller frees it. Returns NULL without memory */
char *answer_next_slow(const struct aggstats_profile *profile);

#endif
