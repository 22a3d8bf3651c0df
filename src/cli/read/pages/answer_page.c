/* The answer page. Sentences and entries stand in the order in which people read them; each has the rank in which it gives
 * way. The first sentence, and the oldest call in flight, never do. */
#include "answer_page.h"

#include <math.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "aggstats/why.h"
#include "aggstats/words.h"
#include "base.h"
#include "facts_text.h"
#include "groups.h"
#include "holders_text.h"
#include "layers.h"
#include "peak_labels.h"

#define PLACE_COLUMNS 32
#define WHOSE_COLUMNS 20
#define NAME_COLUMNS 24
#define PATH_COLUMNS 26
#define NAME_COLUMNS_NARROW 10
#define SPAN_MIN 0.02
#define CACHED_SHARE_NEAR 0.001 /* all or nothing, as printed */
#define WITHIN_MIN 0.05         /* of the elapsed time: a smaller part of the calls on a CPU is not mentioned */
#define NOT_SEEN_COLUMNS 160
#define DISK_SHARE_NONE 0.01 /* of what calls read: so little came from the disk */
#define DISK_SHARE_CALLS 0.9 /* of what came from the disk: calls may have read all of it */
#define NOT_SEEN_NAMES 2
#define GROUPINGS_MAX 5

/* What gives way if a page has too many lines, in this order. */
enum {
    NEVER,
    THIRD_COMMAND,
    CGROUPS,
    MOVED,
    NONE_MOVED,
    DIRECTORIES,
    USERS,
    SECOND_COMMAND,
    THIRD_ADVICE,
    FIFTH_PEAK,
    FOURTH_PEAK,
    PROCESSES,
    COST,
    SECOND_ADVICE,
    CACHED,
    FUSE,
    REST,
    ELSEWHERE,
    FILESYSTEMS,
    NONE_FAILED,
    ATTACH,
    REMEDY,
    MISSED_BYTES,
    DISK_OTHERS,
    CALLERS,
    HOLDER,
    SECOND_PEAK,
    PROGRAMS,
    FILES,
    FIRST_PEAK,
    ASKED_FOR,
    FIRST_ADVICE,
    DISK,
    HIDDEN_LOCKS,
    FAILED,
    NOT_MEASURED,
    FIRST_COMMAND,
};

struct putting {
    struct sheet *sheet;
    const struct answer_page *page;
    const struct aggstats_profile *profile;
    const struct answer_model *model;
    const char *place;   /* of calls: the directory; NULL: unknown, or all files */
    double elapsed;      /* cycles */
    bool is_of_programs; /* the calls are those of programs themselves, not of a file system's callers */
    bool is_of_disk;     /* they are requests to disks, of all programs */
    bool has_unseen;     /* programs and calls that the layer user could not see */
    bool is_at_least;    /* there were calls that were not seen */
};

/* ---- Texts -------------------------------------------------------------------------------------- */

/* As time if the clock's rate is known. */
static struct units_text time_of(const struct sheet *sheet, double cycles) {
    struct units_text time = units_cycles(&sheet->units, cycles);
    if (sheet->units.frequency_hz == 0)
        snprintf(time.text + strlen(time.text), sizeof(time.text) - strlen(time.text), " cycles");
    return screen_firm(time);
}

static struct units_text share_of(double share) {
    return screen_firm(units_share(share));
}

/* Adds " to /srv/data", or nothing. */
static void add_place(const struct putting *it, struct str *text, const char *preposition) {
    CLEANUP_FREE char *shown = it->place ? screen_cut(&it->sheet->screen, it->place, PLACE_COLUMNS, SCREEN_END) : NULL;
    if (shown)
        str_addf(text, " %s %s", preposition, shown);
}

/* ---- How much of the time ----------------------------------------------------------------------- */

/* Of a sum of calls that may be at the same time. */
#define ADDED_UP "summed over threads"

/* The group of osprof show --of; NULL: all calls. */
static const struct aggstats_label *find_whose(const struct aggstats_profile *profile) {
    const struct aggstats_label *found = NULL;
    for (size_t i = 0; i < profile->label_count; i++)
        if (strncmp(profile->labels[i].key, "calls on ", strlen("calls on ")) == 0 ||
            strncmp(profile->labels[i].key, "calls of", strlen("calls of")) == 0)
            found = &profile->labels[i];
    return found;
}

/* "in 9.78 s of them (79 % ± 1) calls to /srv/data were in flight, up to 4 at a time" */
static void add_busy(const struct putting *it, struct str *text) {
    const struct answer_model *model = it->model;
    const bool is_sampled = !model->is_one_by_one;
    const bool are_several = is_sampled && model->busy_most > 1;
    const double error = 100 * model->busy_error;
    const int digits = error >= 0.95 ? 0 : error >= 0.095 ? 1 : 2; /* as many as are significant */
    struct units_text share = share_of(model->elapsed_share);
    if (is_sampled)
        snprintf(share.text, sizeof(share.text), "%.*f %% %s %.*f", digits, 100 * model->busy_share,
                 it->sheet->screen.ascii ? "+-" : "±", digits, error);
    str_addf(text, "in %s%s of them (%s) %s", it->is_at_least ? "at least " : "",
             time_of(it->sheet, is_sampled ? model->busy_share * it->elapsed : model->sum.total_cycles).text,
             screen_firm(share).text,
             it->is_of_programs ? "the job was in file system calls"
             : are_several      ? "calls"
                                : "a call");
    add_place(it, text, it->is_of_programs ? "on" : "to");
    str_add(text, it->is_of_programs ? "" : are_several ? " were in flight" : " was in flight");
    if (are_several)
        str_addf(text, ", up to %llu at a time", (unsigned long long)model->busy_most);
}

/* "calls to /srv/data took 9.78 s (79.0 %), summed over threads"; of a group "calls of program cc1 to ..." */
static void add_sum(const struct putting *it, const struct aggstats_label *whose, struct str *text) {
    static const char on[] = "calls on ";
    const struct answer_model *model = it->model;
    const struct screen *screen = &it->sheet->screen;
    const bool is_path = whose && strncmp(whose->key, on, strlen(on)) == 0;
    str_add(text, model->sum.calls == 0 ? "no " : "");
    if (whose) {
        CLEANUP_FREE char *key = screen_cut(screen, is_path ? "calls on" : whose->key, WHOSE_COLUMNS, SCREEN_BEGINNING);
        CLEANUP_FREE char *value = screen_cut(screen, whose->value, is_path ? PLACE_COLUMNS : WHOSE_COLUMNS,
                                              is_path ? SCREEN_END : SCREEN_BEGINNING);
        str_addf(text, "%s %s", key ? key : "", value ? value : "");
    } else {
        str_add(text, !it->is_of_disk ? "calls" : model->sum.calls == 0 ? "requests" : "requests of all programs");
    }
    add_place(it, text, "to");
    if (model->sum.calls == 0) {
        str_add(text, it->is_at_least ? " were measured" : "");
        return;
    }
    str_addf(text, " took %s%s", it->is_at_least ? "at least " : "", time_of(it->sheet, model->sum.total_cycles).text);
    if (model->elapsed_share > 0)
        str_addf(text, " (%s)", share_of(model->elapsed_share).text);
    str_add(text, ", " ADDED_UP);
}

/* The first sentence, with the elapsed time if that is known, and with locks. */
static void put_time(const struct putting *it) {
    const struct answer_model *model = it->model;
    const bool is_sum = !model->is_one_by_one && !model->has_busy;
    const struct aggstats_label *whose = is_sum ? find_whose(it->profile) : NULL;
    const wide_count runs = it->profile->has_runs ? it->profile->runs : it->profile->merged;
    CLEANUP_STR struct str text = {0};
    if (it->profile->has_elapsed && runs > 0)
        str_addf(&text, "%llu %s, ", (unsigned long long)runs, it->profile->has_runs ? "runs" : "profiles");
    if (it->profile->has_elapsed)
        str_addf(&text, "%s elapsed%s; ", time_of(it->sheet, it->elapsed).text, runs > 0 ? " in all" : "");
    if (is_sum)
        add_sum(it, whose, &text);
    else
        add_busy(it, &text);
    if (model->fuse.is_between && !model->fuse.is_known && (!is_sum || (model->sum.calls > 0 && !whose)))
        str_addf(&text, ", FUSE%s not included", model->fuse.has_local_locks ? " and waiting for locks" : "");
    if (model->sum.total_cycles > 0 && model->lock_cycles >= ANSWER_SHARE_MIN * model->sum.total_cycles)
        str_addf(&text,
                 model->has_busy && !model->is_one_by_one ? "; calls for locks took %s, " ADDED_UP
                                                          : "; %s of that for locks",
                 time_of(it->sheet, model->lock_cycles).text);
    if (!it->profile->has_elapsed && text.length > 0 && text.text[0] >= 'a' && text.text[0] <= 'z')
        text.text[0] = (char)(text.text[0] - 'a' + 'A');
    sheet_sentence(it->sheet, 0, "%s", str_text(&text));
}

void answer_page_put_hidden_locks(struct sheet *sheet, double cycles) {
    sheet_sentence(sheet, 0,
                   "Programs waited %s in all for locks of files; the mount does not forward them (-o "
                   "posix_lock,flock does), so that is in no operation",
                   time_of(sheet, cycles).text);
}

static void put_fuse(const struct putting *it) {
    const struct answer_fuse *fuse = &it->model->fuse;
    it->sheet->rank = FUSE;
    if (fuse->is_added_close)
        sheet_sentence(it->sheet, 0, "FUSE, the page cache and copying added at most %s to these calls (%s request%s)",
                       time_of(it->sheet, fuse->added_most).text, units_count(it->model->sum.calls).text,
                       units_plural(it->model->sum.calls));
    it->sheet->rank = HIDDEN_LOCKS;
    if (fuse->has_hidden_locks)
        answer_page_put_hidden_locks(it->sheet, fuse->hidden_lock_cycles);
}

/* "1.00 s", or "1.00 s to 1.20 s" if that differs by more than SPAN_MIN of the elapsed time */
static void add_span(const struct putting *it, struct str *text, double least, double most) {
    if (most - least <= SPAN_MIN * it->elapsed)
        str_add(text, time_of(it->sheet, (least + most) / 2).text);
    else
        str_addf(text, "%s to %s", time_of(it->sheet, least).text, time_of(it->sheet, most).text);
}

/* Where the command was outside of its calls: calls that were not seen are somewhere in the rest. */
static void put_rest(const struct putting *it) {
    const struct answer_rest *rest = &it->model->rest;
    const double least = ANSWER_SHARE_MIN * it->elapsed;
    CLEANUP_STR struct str text = {0};
    it->sheet->rank = REST;
    if (rest->kind == ANSWER_REST_SEVERAL) {
        str_addf(&text, "Its threads and processes were on CPUs for %s, in these calls and outside",
                 time_of(it->sheet, rest->cpu).text);
        if (!it->is_at_least && rest->idle_least >= least)
            str_addf(&text, "; that leaves at least %s of the elapsed time for other waits",
                     time_of(it->sheet, rest->idle_least).text);
    } else if (rest->kind == ANSWER_REST_ONE && !it->is_at_least) {
        if (rest->within_least >= WITHIN_MIN * it->elapsed)
            str_addf(&text, "It was on a CPU for at least %s within these calls, and outside of them for ",
                     time_of(it->sheet, rest->within_least).text);
        else
            str_add(&text, "Outside of these calls it was on a CPU for ");
        add_span(it, &text, rest->computing_least, rest->computing_most);
        const bool has_queued = rest->queued_most >= least; /* part of others_most */
        if (has_queued)
            str_addf(&text, ", waited for a CPU for at most %s", time_of(it->sheet, rest->queued_most).text);
        if (rest->others_most >= least) {
            str_add(&text, has_queued ? ", and for other things for " : ", and waited for other things for ");
            add_span(it, &text, rest->others_least, rest->others_most);
        }
    }
    if (text.length > 0)
        sheet_sentence(it->sheet, 0, "%s", str_text(&text));
}

/* Is it the disk? "161 MiB came from the disk; calls read 170 MiB"; "161 MiB came from the disk, at most 300 KiB of it by read
 * calls: the rest by mapped files and programs (6 major page faults, at most 9.00 ms each), read-ahead or metadata" */
static void put_disk(const struct putting *it) {
    const struct answer_disk *disk = &it->model->disk;
    const struct units_text storage = screen_firm(units_bytes(disk->storage_bytes));
    const struct units_text called = screen_firm(units_bytes(disk->called_bytes));
    CLEANUP_STR struct str text = {0};
    if (!disk->is_known)
        return;
    it->sheet->rank = DISK;
    if (disk->storage_bytes < DISK_SHARE_NONE * disk->called_bytes) {
        str_addf(&text, "%s of the %s that calls read came from the disk: %s",
                 disk->storage_bytes > 0 ? "Less than 1\1%" : "Nothing", called.text,
                 disk->is_local ? "it was in the page cache"
                                : "it was in the page cache, or came from a FUSE daemon or a server");
    } else if (disk->called_bytes >= DISK_SHARE_CALLS * disk->storage_bytes) {
        str_addf(&text, "%s came from the disk; calls read %s", storage.text, called.text);
    } else {
        str_addf(&text, "%s came from the disk, %s%s of it by read calls: the rest by ", storage.text,
                 disk->called_bytes > 0 ? "at most " : "none", disk->called_bytes > 0 ? called.text : "");
        if (disk->major_faults > 0)
            str_addf(&text, "mapped files and programs (%s major page fault%s", units_count(disk->major_faults).text,
                     units_plural(disk->major_faults));
        if (disk->major_faults > 0 && disk->fault_most_cycles > 0)
            str_addf(&text, ", at most %s each", time_of(it->sheet, disk->fault_most_cycles).text);
        str_add(&text, disk->major_faults > 0 ? "), read-ahead or metadata" : "read-ahead or metadata");
        if (disk->major_faults > 0 && it->page->source->can_see_faults)
            str_add(&text, "; as root, osprof attach shows which files");
    }
    sheet_sentence(it->sheet, 0, "%s", str_text(&text));
}

/* ---- Advice ------------------------------------------------------------------------------------- */

/* "FSYNC by sqlite3 in /db", "Files of /mnt fuse.sshfs", "FUSE of this mount" */
static void add_subject(const struct putting *it, const struct advice *advice, struct str *text) {
    const struct aggstats_group *place = advice->place;
    const char *base = groups_base(it->profile);
    CLEANUP_FREE char *path = NULL;
    CLEANUP_FREE char *shown = NULL;
    if (advice->rule == ADVICE_MOUNT) {
        str_add(text, "FUSE of this mount");
        return;
    }
    if (place &&
        asprintf(&path, "%s%s", base && place->grouping != AGGSTATS_BY_FILESYSTEM ? base : "", place->name) < 0)
        path = NULL;
    shown = path ? screen_cut(&it->sheet->screen, path, PLACE_COLUMNS, SCREEN_END) : NULL;
    if (advice->rule == ADVICE_FUSE) {
        str_addf(text, "Files of %s", shown ? shown : "FUSE");
        return;
    }
    CLEANUP_FREE char *program =
        screen_cut(&it->sheet->screen, advice->program ? advice->program->name : "", NAME_COLUMNS, SCREEN_BEGINNING);
    str_addf(text, "%s%s%s", advice->op ? advice->op->name : "", program && program[0] ? " by " : "",
             program ? program : "");
    if (shown)
        str_addf(text, "%s%s", place->grouping == AGGSTATS_BY_FILE ? " on " : " in ", shown);
}

/* Rounded up, as bounds are. */
static struct units_text percent_text(double percent) {
    struct units_text text;
    snprintf(text.text, sizeof(text.text), "%.0f %%", percent);
    return screen_firm(text);
}

/* "FSYNC by sqlite3 in /db: 3,000 calls, one at a time in 5 s of 9 s: sync once for many can save at most 43 % in calls and
 * 5 % between them". Where all of the rest may be saved too, that is no bound, and has no figure. */
static void put_advice(const struct putting *it, const struct advice *advice) {
    const double percent = ceil(100 * advice->bound);
    const double between_percent = fmin(ceil(100 * advice->between), 100 - percent);
    const struct units_text calls = units_count(advice->calls);
    CLEANUP_STR struct str text = {0};
    add_subject(it, advice, &text);
    str_add(&text, ": ");
    if (advice->rule == ADVICE_TINY_READS || advice->rule == ADVICE_TINY_WRITES)
        str_addf(&text, "%s calls of %s each", calls.text, units_bytes(advice->bytes).text);
    else if (advice->rule == ADVICE_MISSING)
        str_addf(&text, "%s of %s calls for what is not there", calls.text, units_count(advice->of_calls).text);
    else if (advice->rule == ADVICE_REOPENED)
        str_addf(&text, "opened %s times", calls.text);
    else if (advice->rule != ADVICE_MOUNT) /* how much that added is said before */
        str_addf(&text, "%s calls", calls.text);
    if (advice->rule != ADVICE_MOUNT)
        str_addf(&text, "%s %s%s of %s: ", advice->is_one_at_a_time ? ", one at a time in" : ", in",
                 advice->is_exact ? "" : "about ", time_of(it->sheet, advice->busy_cycles).text,
                 time_of(it->sheet, it->elapsed).text);
    str_addf(&text, "%s can save at most %s in calls", advice_remedy(advice->rule), percent_text(percent).text);
    if (between_percent >= 1 && percent + between_percent >= 100)
        str_add(&text, ", besides the work between them");
    else if (between_percent >= 1)
        str_addf(&text, " and %s between them", percent_text(between_percent).text);
    sheet_sentence(it->sheet, 0, "%s", str_text(&text));
}

static void put_all_advice(const struct putting *it) {
    static const unsigned ranks[] = {FIRST_ADVICE, SECOND_ADVICE, THIRD_ADVICE};
    CLEANUP_STR struct str others = {0};
    for (size_t i = 0; i < it->model->advice_count; i++) {
        it->sheet->rank = ranks[i < ARRAY_SIZE(ranks) ? i : ARRAY_SIZE(ranks) - 1];
        put_advice(it, &it->model->advice[i]);
    }
    it->sheet->rank = DISK_OTHERS;
    if (facts_text_add_disk_others(&others, it->profile, &it->sheet->screen))
        sheet_sentence(it->sheet, 0, "%s", str_text(&others));
}

/* ---- What is missing ---------------------------------------------------------------------------- */

static void put_missed_bytes(const struct putting *it) {
    const struct bytes_witness *witness = &it->model->witness;
    const struct units_text written = share_of(witness->share.written);
    const bool are_both = witness->is_read_missed && witness->is_written_missed;
    it->sheet->rank = MISSED_BYTES;
    if (witness->is_at_least)
        sheet_warning(it->sheet, "Only %s of the bytes that the kernel %s%s%s%s for these programs were measured%s",
                      witness->is_read_missed ? share_of(witness->share.read).text : written.text,
                      witness->is_read_missed ? "read" : "wrote", are_both ? ", and of those that it wrote " : "",
                      are_both ? written.text : "", are_both ? "," : "",
                      it->has_unseen ? ""
                                     : "; the rest may be of programs into which nothing is preloaded, or of what the "
                                       "C library writes when a program ends");
    if (!witness->is_elsewhere || it->model->elapsed_share >= ANSWER_SHARE_MIN)
        return;
    CLEANUP_STR struct str place = {0};
    add_place(it, &place, "in");
    it->sheet->rank = ELSEWHERE;
    sheet_warning(it->sheet,
                  "%s of the bytes that programs read and wrote were of files%s: %s were of others, pipes, sockets or "
                  "terminals; without -d all files count",
                  witness->inside_share > 0 ? "Hardly any" : "None", str_text(&place),
                  units_bytes(witness->elsewhere).text);
}

/* Of each kind of programs only the first names are there; the heading has more. The remedy is true of all kinds of programs
 * and calls. A user's mount is in a user namespace, in which set-id bits do nothing. The command of `attach` begins its
 * sentence, so that it is not broken. */
static void put_missing(const struct putting *it) {
    const struct answer_source *source = it->page->source;
    const uint64_t faults = it->model->major_faults;
    const bool is_any_unseen = it->has_unseen || faults > 0;
    CLEANUP_STR struct str not_seen = {0};
    CLEANUP_STR struct str not_told = {0};
    put_missed_bytes(it);
    if (it->has_unseen)
        facts_text_add_not_seen(&not_seen, it->profile, NOT_SEEN_NAMES);
    CLEANUP_FREE char *what = screen_cut(&it->sheet->screen, str_text(&not_seen), NOT_SEEN_COLUMNS, SCREEN_BEGINNING);
    str_cut(&not_seen, 0);
    if (faults > 0)
        str_addf(&not_seen, "%spage faults of mapped files (%s major in all)", it->has_unseen ? ", " : "",
                 units_count(faults).text);
    facts_text_add_not_told(&not_told, it->profile);
    it->sheet->rank = NOT_MEASURED;
    if (is_any_unseen)
        sheet_warning(it->sheet, "Not measured: %s%s%s%s", what ? what : "", str_text(&not_seen),
                      not_told.length > 0 ? "; " : "", str_text(&not_told));
    else if (not_told.length > 0)
        sheet_sentence(it->sheet, 0, "Not measured: %s", str_text(&not_told));
    it->sheet->rank = REMEDY;
    if (is_any_unseen && !source->has_mount)
        sheet_sentence(it->sheet, 0, "A mount over their files sees them: osprof run --layers fs -d DIR%s",
                       it->profile->not_seen[AGGSTATS_UNSEEN_SET_ID] > 0 ? ", for set-id programs as root" : "");
    it->sheet->rank = ATTACH;
    if (source->attach && faults == 0)
        sheet_sentence(it->sheet, 0, "%s sees them while they run, on that file system", source->attach);
}

/* ---- Single calls ------------------------------------------------------------------------------- */

/* A call that hangs is the answer. "In flight: 2 calls, the oldest FSYNC by dd for 9.00 s, waiting for the disk" */
static void put_in_flight(const struct putting *it) {
    const struct aggstats_call *oldest = it->model->oldest;
    char words[AGGSTATS_WHY_TEXT_SIZE];
    char holder[HOLDERS_SHORT_SIZE];
    if (!oldest)
        return;
    aggstats_why_text(&oldest->cause, words);
    it->sheet->rank = NEVER;
    sheet_sentence(it->sheet, 0, "In flight: %s call%s, the oldest %s%s%s for %s%s%s%s%s",
                   units_count(it->profile->in_flight_count).text, units_plural(it->profile->in_flight_count),
                   oldest->op, oldest->program[0] ? " by " : "", oldest->program,
                   time_of(it->sheet, (double)oldest->latency_cycles).text, words[0] ? ", " : "", words,
                   oldest->chain ? ": " : "",
                   oldest->chain ? holders_format_thing(oldest->chain, holder, sizeof(holder)) : "");
}

/* Of the operation that comes first: its longest call with its main cause, if the holder is known, as "Slow: FLOCK of 2.7 s
 * waited for the flock of /srv/x, held by backup 992". And "Slow: 4,120 of 4,203 FSYNCs from commit_row of db". */
static void put_slow(const struct putting *it) {
    static const struct aggstats_why unknown = {.words = ""};
    const struct aggstats_profile *profile = it->profile;
    const char *op = it->model->peak_count > 0 ? it->model->peaks[0].op->name : "";
    const char *called = facts_text_first_called(profile);
    const struct aggstats_why *cause = &unknown;
    const struct aggstats_call *longest = NULL;
    char holder[HOLDERS_SHORT_SIZE];
    CLEANUP_STR struct str callers = {0};
    for (size_t i = 0; i < profile->cause_count && cause == &unknown; i++)
        if (strcmp(profile->causes[i].op, op) == 0)
            cause = &profile->causes[i].why;
    for (size_t i = 0; i < profile->slow_call_count; i++) {
        const struct aggstats_call *call = &profile->slow_calls[i];
        if (call->chain && strcmp(call->op, op) == 0 && aggstats_why_is_same(&call->cause, cause) &&
            (!longest || call->latency_cycles > longest->latency_cycles))
            longest = call;
    }
    it->sheet->rank = HOLDER;
    if (longest)
        sheet_sentence(it->sheet, 0, "Slow: %s of %s waited for %s", longest->op,
                       time_of(it->sheet, (double)longest->latency_cycles).text,
                       holders_format_thing(longest->chain, holder, sizeof(holder)));
    it->sheet->rank = CALLERS;
    if (called && facts_text_add_callers(&callers, profile, called))
        sheet_sentence(it->sheet, 0, "Slow: %s", str_text(&callers));
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

/* The share is before the name, so that no line looks like one of the table of operations. */
enum column {
    COLUMN_SHARE,
    COLUMN_NAME,
    COLUMN_CALLS,
    COLUMN_P50,
    COLUMN_MEAN,
    COLUMN_LONGEST,
    COLUMN_CAUSE,
    COLUMN_PLACE
};

#define CAUSE_COLUMNS_MIN 18
#define PLACE_COLUMNS_MIN 14

static const char *name_of(const struct putting *it, const struct answer_peak *peak) {
    return it->page->no_labels ? "" : peak_reason_name(&peak->reason, peak->op);
}

static bool is_observed(const struct putting *it, const struct answer_peak *peak) {
    return peak->wait || (name_of(it, peak)[0] && peak_reason_is_seen(&peak->reason));
}

/* An upper bound has a sign. Beside observed causes, a probable one has a question mark. */
static void add_peak(const struct putting *it, const struct answer_peak *peak, bool has_observed) {
    struct sheet *sheet = it->sheet;
    char words[AGGSTATS_WHY_TEXT_SIZE];
    const char *reason = name_of(it, peak);
    sheet_add_share(sheet, peak->cost_share);
    sheet_add(sheet, peak->op->name);
    if (peak->peak.calls < peak->op_calls)
        sheet_addf(sheet, "%s of %s", units_count(peak->peak.calls).text, units_count(peak->op_calls).text);
    else
        sheet_add_count(sheet, peak->peak.calls);
    sheet_add_cycles(sheet, peak->peak.p50_cycles);
    sheet_add_cycles(sheet, peak->mean_cycles);
    sheet_addf(sheet, "%s%s", peak->is_longest_exact ? "" : "<",
               units_cycles(&sheet->units, peak->longest_cycles).text);
    if (peak->wait)
        sheet_add(sheet, aggstats_why_text(&peak->wait->why, words));
    else
        sheet_addf(sheet, "%s%s", reason, reason[0] && has_observed && !is_observed(it, peak) ? "?" : "");
    if (peak->below.path)
        sheet_addf(sheet, "below %.*s", (int)peak->below.length, peak->below.path);
    else
        sheet_add(sheet, peak->is_file_unknown ? "(file not known: by=file)"
                         : peak->place         ? groups_name(peak->place)
                                               : "");
}

/* A table of the first ones. */
static void put_peaks(const struct putting *it, size_t count) {
    bool has_observed = false; /* causes */
    bool has_some = false;     /* of the calls of an operation */
    bool has_paths = false;
    bool has_queued = false; /* how long requests waited before a disk got them */
    unsigned hidden = 1U << COLUMN_MEAN | 1U << COLUMN_LONGEST | 1U << COLUMN_CAUSE | 1U << COLUMN_PLACE;
    for (size_t i = 0; i < count; i++) {
        const struct answer_peak *peak = &it->model->peaks[i];
        has_observed |= is_observed(it, peak);
        has_some |= peak->peak.calls < peak->op_calls;
        has_paths |= peak->place || peak->below.path;
        has_queued |= layers_is_queued(LAYER_IS_BLOCK, peak->op->name);
        if (peak->is_uneven) /* p50 does not explain all of the shares */
            hidden &= ~(1U << COLUMN_MEAN | 1U << COLUMN_LONGEST);
        if (peak->wait || name_of(it, peak)[0])
            hidden &= ~(1U << COLUMN_CAUSE);
        if (peak->place || peak->is_file_unknown || peak->below.path)
            hidden &= ~(1U << COLUMN_PLACE);
    }
    const char *base = has_paths ? groups_base(it->profile) : NULL; /* where the paths begin */
    CLEANUP_STR struct str place_title = {0};
    str_addf(&place_title, "top file%s%s", base ? ", in " : "", base ? base : "");
    const struct sheet_column columns[] = {
        [COLUMN_SHARE] = {"% of latency", SHEET_NUMBER, 0, 8},
        [COLUMN_NAME] = {"spent in", SHEET_NAME, 1},
        [COLUMN_CALLS] = {"calls", SHEET_NUMBER, 2, 9},
        [COLUMN_P50] = {has_some ? "their p50" : "p50", SHEET_NUMBER, 3, 10},
        [COLUMN_MEAN] = {has_some ? "their mean" : "mean", SHEET_NUMBER, 4, 10},
        [COLUMN_LONGEST] = {"max", SHEET_NUMBER, 6, 10},
        [COLUMN_CAUSE] = {has_observed ? "cause" : "may be", SHEET_LINE, 5, CAUSE_COLUMNS_MIN},
        [COLUMN_PLACE] = {str_text(&place_title), SHEET_PLACE, 7, PLACE_COLUMNS_MIN},
    };
    sheet_gap(it->sheet);
    struct sheet_table *table = SHEET_TABLE(it->sheet, columns);
    table->fills = true;
    table->hidden = hidden;
    for (size_t i = 0; i < count; i++)
        add_peak(it, &it->model->peaks[i], has_observed);
    if (has_queued)
        sheet_legend(it->sheet, ANSWER_QUEUED);
    sheet_gap(it->sheet);
}

/* What is said of the peaks depends on how many there are: each time that some give way, another table replaces theirs. */
static void put_tables_of_peaks(const struct putting *it) {
    static const struct {
        size_t most;
        unsigned from;
        unsigned rank;
    } tables[] = {{ANSWER_PEAKS_MAX, NEVER, FIFTH_PEAK},
                  {ANSWER_PEAKS_MIN + 1, FIFTH_PEAK, FOURTH_PEAK},
                  {ANSWER_PEAKS_MIN, FOURTH_PEAK, SECOND_PEAK},
                  {1, SECOND_PEAK, FIRST_PEAK}};
    const size_t count = it->model->peak_count;
    for (size_t i = 0; i < ARRAY_SIZE(tables) && count > 0; i++) {
        it->sheet->from = tables[i].from;
        it->sheet->rank = tables[i].rank;
        put_peaks(it, count < tables[i].most ? count : tables[i].most);
    }
    it->sheet->from = NEVER;
}

/* ---- Groups ------------------------------------------------------------------------------------- */

/* "below /var/tmp/t 97.1 %": the common directory of many. */
static void put_below(const struct putting *it, int columns) {
    const struct groups_prefix *below = &it->model->below;
    CLEANUP_FREE char *path = strndup(below->path, below->length);
    CLEANUP_FREE char *shown = path ? screen_cut(&it->sheet->screen, path, columns, SCREEN_PATH) : NULL;
    if (shown)
        sheet_item(it->sheet, 0, "below %s %s", shown, units_share(below->weight / it->model->sum.total_cycles).text);
}

/* The busiest group of a grouping, and all groups with at least ANSWER_SHARE_MIN of the time. */
static void put_groups(const struct putting *it, enum aggstats_grouping grouping) {
    const struct screen *screen = &it->sheet->screen;
    const int columns = screen->width < 80                        ? NAME_COLUMNS_NARROW
                        : aggstats_grouping_has_objects(grouping) ? PATH_COLUMNS
                                                                  : NAME_COLUMNS;
    bool has_any = grouping == AGGSTATS_BY_DIRECTORY && it->model->below.path;
    sheet_list(it->sheet, groups_name_title(grouping), 1, 0);
    if (has_any)
        put_below(it, columns);
    for (size_t i = 0; i < it->profile->group_count; i++) {
        const struct aggstats_group *group = &it->profile->groups[i];
        const double whole = it->model->sum.total_cycles;
        const double share =
            group->grouping == grouping && whole > 0 ? figures_sum(&group->profile).total_cycles / whole : 0;
        char id[GROUPS_ID_SIZE];
        if (group->grouping != grouping || (has_any && share < ANSWER_SHARE_MIN))
            continue;
        groups_format_id(group, id);
        CLEANUP_FREE char *who = screen_cut(screen, groups_name(group), columns,
                                            aggstats_grouping_has_paths(grouping) ? SCREEN_PATH : SCREEN_BEGINNING);
        sheet_item(it->sheet, 0, "%s%s%s %s", who ? who : "", who && who[0] && id[0] ? " " : "", id,
                   units_share(share).text);
        has_any = true;
    }
    if (!has_any)
        sheet_item(it->sheet, 0, "none");
}

/* True unless all is on that of "/", as on most machines. */
static bool has_file_systems(const struct putting *it) {
    double largest = 0;
    bool is_root = true;
    for (size_t i = 0; i < it->profile->group_count; i++) {
        const struct aggstats_group *group = &it->profile->groups[i];
        const double total = figures_sum(&group->profile).total_cycles;
        if (group->grouping == AGGSTATS_BY_FILESYSTEM && total > largest) {
            largest = total;
            is_root = strncmp(group->name, "/ ", 2) == 0;
        }
    }
    return largest > 0 && (!is_root || largest < (1 - ANSWER_SHARE_MIN) * it->model->sum.total_cycles);
}

/* Where the time went comes first. Those after GROUPINGS_MAX are omitted, because the page is bounded; those that were asked
 * for stay. */
static void put_all_groups(const struct putting *it) {
    static const struct {
        enum aggstats_grouping grouping;
        unsigned rank;
    } order[] = {{AGGSTATS_BY_FILESYSTEM, FILESYSTEMS}, {AGGSTATS_BY_FILE, FILES},
                 {AGGSTATS_BY_DIRECTORY, DIRECTORIES},  {AGGSTATS_BY_PROGRAM, PROGRAMS},
                 {AGGSTATS_BY_PROCESS, PROCESSES},      {AGGSTATS_BY_UID, USERS},
                 {AGGSTATS_BY_CGROUP, CGROUPS}};
    _Static_assert(ARRAY_SIZE(order) == GROUPING_COUNT, "each grouping has its place");
    const bool are_asked_for = it->page->source->has_groups_asked;
    unsigned count = it->model->sum.calls > 0 ? 0 : ARRAY_SIZE(order);
    for (size_t i = 0; i < ARRAY_SIZE(order) && (count < GROUPINGS_MAX || (are_asked_for && count < ARRAY_SIZE(order)));
         i++) {
        if (!(it->profile->groupings & 1U << order[i].grouping) ||
            (order[i].grouping == AGGSTATS_BY_FILESYSTEM && !are_asked_for && !has_file_systems(it)))
            continue;
        it->sheet->rank = order[i].rank;
        if (it->model->below.path && order[i].grouping == AGGSTATS_BY_DIRECTORY) /* more than a few of many files */
            it->sheet->rank = FILES;
        else if (it->model->below.path && order[i].grouping == AGGSTATS_BY_FILE)
            it->sheet->rank = DIRECTORIES;
        if (are_asked_for)
            it->sheet->rank = ASKED_FOR;
        put_groups(it, order[i].grouping);
        count++;
    }
}

/* ---- How much, what failed ---------------------------------------------------------------------- */

/* "all of the 2.00 MiB that read calls returned; not judged: ..." */
static void put_cached(const struct putting *it) {
    const struct aggstats_cache *cache = &it->profile->cache;
    const double share = 1 - (double)cache->missed_bytes / (double)cache->read_bytes;
    CLEANUP_STR struct str text = {0};
    it->sheet->rank = CACHED;
    if (!it->profile->has_cache || (cache->read_bytes == 0 && cache->unjudged_bytes == 0))
        return;
    if (cache->read_bytes > 0) {
        if (cache->missed_bytes == 0 || cache->missed_bytes >= cache->read_bytes)
            str_add(&text, cache->missed_bytes == 0 ? "all" : "none");
        else if (share < CACHED_SHARE_NEAR || share > 1 - CACHED_SHARE_NEAR)
            str_add(&text, share < 0.5 ? "less than 0.1 %" : "more than 99.9 %");
        else
            str_addf(&text, "%.1f %%", 100 * share);
        str_addf(&text, " of the %s that read calls returned", units_bytes((double)cache->read_bytes).text);
    }
    if (cache->unjudged_bytes > 0)
        str_addf(&text, "%snot judged: %s (O_DIRECT, DAX, tmpfs, FUSE, overlayfs and the like)",
                 cache->read_bytes > 0 ? "; " : "", units_bytes((double)cache->unjudged_bytes).text);
    sheet_entry(it->sheet, FORM_ENTRY, "cached", "%s", str_text(&text));
}

static void put_moved(const struct putting *it) {
    static const char *const words[BYTES_WAY_COUNT] = {
        [BYTES_READ] = "read", [BYTES_WRITTEN] = "written", [BYTES_COPIED] = "copied"};
    const struct answer_model *model = it->model;
    it->sheet->rank = MOVED;
    for (size_t i = 0; i < model->transfer_count; i++) {
        const struct answer_transfer *transfer = &model->transfers[i];
        sheet_list(it->sheet, words[transfer->way], 1, 0);
        sheet_item(it->sheet, 0, "%s", units_bytes(transfer->moved.bytes).text);
        if (transfer->per_elapsed_second > 0)
            sheet_item(it->sheet, 0, "%s/s overall", units_bytes(transfer->per_elapsed_second).text);
        if (transfer->per_call_second > 0 && transfer->per_call_second >= transfer->per_elapsed_second)
            sheet_item(it->sheet, 0, "%s/s within calls", units_bytes(transfer->per_call_second).text);
        /* else calls overlap */
    }
    put_cached(it);
    it->sheet->rank = NONE_MOVED;
    if (layers_has_kernel_data(it->profile))
        sheet_entry(it->sheet, FORM_ENTRY, "bytes", LAYERS_KERNEL_DATA);
    else if (model->transfer_count == 0 && model->knows_outcomes)
        sheet_entry(it->sheet, FORM_ENTRY, "bytes", "none read or written");
}

/* Kinds without room are counted as others. Searches for what is not there follow what is a failure for certain. That
 * nothing failed is not known where some calls are not told. */
static void put_failed(const struct putting *it) {
    const struct answer_model *model = it->model;
    const bool are_all_told = strcmp(layers_name(it->profile), "syscall") != 0;
    wide_count others = model->failed_calls;
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < model->failure_count; i++)
        others -= model->failures[i].calls;
    it->sheet->rank = FAILED;
    if (model->failure_count > 0)
        sheet_list(it->sheet, "failed", 2, others);
    for (size_t i = 0; i < model->failure_count; i++) {
        const struct answer_failure *failure = &model->failures[i];
        const bool is_first_search = failure->is_search && (i == 0 || !model->failures[i - 1].is_search);
        sheet_item(it->sheet, failure->calls, "%s%s%s%s %s",
                   !is_first_search ? ""
                   : i == 0         ? "nothing but names that are not there: "
                                    : "not there: ",
                   failure->op->name, failure->is_search ? "" : " ",
                   failure->is_search ? "" : aggstats_failure_name(failure->failure), units_count(failure->calls).text);
    }
    if (model->failure_count > 0 || !model->knows_outcomes || !are_all_told)
        return;
    if (model->asked_for > 0)
        str_addf(&text, "nothing but %s quer%s for what is not there", units_count(model->asked_for).text,
                 model->asked_for == 1 ? "y" : "ies");
    it->sheet->rank = NONE_FAILED;
    sheet_entry(it->sheet, FORM_ENTRY, "failed", "%s",
                text.length > 0 && SCREEN_KEY_COLUMNS + (int)text.length <= it->sheet->screen.width ? str_text(&text)
                                                                                                    : "nothing");
}

/* By how much calls were slower for being counted, or why that is unknown. */
static void put_cost(const struct putting *it) {
    const char *why_unknown = aggstats_profile_label(it->profile, "cost");
    CLEANUP_STR struct str text = {0};
    facts_text_add_cost(&text, it->profile, &it->sheet->units);
    it->sheet->rank = COST;
    if (it->profile->has_cost || why_unknown)
        sheet_entry(it->sheet, FORM_ENTRY, "cost", "%s", text.length > 0 ? str_text(&text) : why_unknown);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static size_t count_unnamed(const struct answer_model *model) {
    size_t count = 0;
    for (size_t i = 0; i < model->peak_count; i++)
        count += model->peaks[i].reason.cause == PEAK_CAUSE_NOT_KNOWN;
    return count;
}

static void put_reasons(struct sheet *sheet, const struct answer_page *page, const struct answer_model *model) {
    const struct peak_times times = peak_labels_times(page->profile, page->calibration);
    const size_t unnamed = count_unnamed(model);
    for (size_t i = 0; i < model->peak_count; i++) {
        if (times.count == 0 && model->peaks[i].reason.cause == PEAK_CAUSE_NOT_KNOWN)
            continue;
        sheet_heading(sheet, "%s", model->peaks[i].op->name);
        peak_labels_explain(sheet, model->peaks[i].op, &model->peaks[i].peak, &times);
    }
    if (times.count == 0 && (unnamed > 0 || model->peak_count == 0)) {
        sheet_gap(sheet);
        peak_labels_explain_none(sheet, unnamed < model->peak_count);
    }
}

/* The directories of a layer of disks are those of the job; the mount of system calls may be no place of files. */
static const char *place_of(const struct aggstats_profile *profile, bool is_of_programs) {
    const char *lower = aggstats_profile_label(profile, "lower");
    const char *mount = aggstats_profile_label(profile, "mount");
    if (layers_of_name(layers_name(profile)) == LAYER_IS_BLOCK)
        return aggstats_profile_label(profile, "devices");
    if (strcmp(layers_name(profile), "syscall") == 0)
        mount = NULL;
    const char *place = lower && lower[0] ? lower : mount && mount[0] ? mount : NULL;
    return is_of_programs && place && strcmp(place, "/") == 0 ? NULL : place;
}

void answer_page_put(struct sheet *sheet, const struct answer_page *page) {
    static const unsigned ranks[] = {FIRST_COMMAND, SECOND_COMMAND, THIRD_COMMAND};
    const struct aggstats_profile *profile = page->profile;
    const char *layer = aggstats_profile_label(profile, "layer");
    struct answer_model model;
    answer_model_make(profile, page->calibration->times, page->calibration->count, &model);
    struct putting it = {.sheet = sheet, .page = page, .profile = profile, .model = &model};
    it.is_of_programs = layer && strcmp(layer, "user") == 0;
    it.is_of_disk = layers_of_name(layers_name(profile)) == LAYER_IS_BLOCK;
    it.place = place_of(profile, it.is_of_programs);
    it.elapsed = (double)profile->elapsed_cycles;
    it.has_unseen = aggstats_profile_has_unseen(profile);
    it.is_at_least = it.has_unseen || model.witness.is_at_least;
    put_time(&it);
    put_fuse(&it);
    put_rest(&it);
    put_disk(&it);
    put_all_advice(&it);
    put_missing(&it);
    put_in_flight(&it);
    put_slow(&it);
    put_tables_of_peaks(&it);
    put_all_groups(&it);
    put_moved(&it);
    put_failed(&it);
    put_cost(&it);
    answer_next_put(sheet, page->source, profile, &model,
                    page->calibration->count == 0 && !page->no_labels && count_unnamed(&model) > 0, ranks);
    sheet->rank = NEVER;
    if (page->explain)
        put_reasons(sheet, page, &model);
}
