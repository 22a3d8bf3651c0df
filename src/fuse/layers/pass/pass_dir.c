/* Reading directories. Positions are the lower file system's own, so that telldir and seekdir work; seek and read
 * happen under the stream's lock. */
#include <dirent.h>
#include <string.h>

#include "pass_private.h"

#define NOWHERE ((off_t)-1) /* no position of a directory */

/* ---- Which names of a listing are sent with their attributes (READDIRPLUS) ----
 *
 * The kernel asks for attributes with the first names of a directory (all of a small one), and goes on while it sees
 * one of them used. Sent attributes cost a lookup, used or not. Missing attributes cost a LOOKUP if the caller needs
 * them. So sending pays off for a caller that uses a third of the attributes or more. For a caller that used only names
 * and one stat in ten, sending took four fifths of the time. We do not see the use of attributes that were sent. So
 * some names are sent without attributes, and the LOOKUPs for these names show what share of attributes the caller
 * uses.
 *
 * A caller's share counts for all directories that it lists, most of which are small. LOOKUPs count for the caller that
 * listed their directory last, whichever thread sends them. Callers and directories have a place each by their number,
 * which the latest overwrites. Nothing here is exact, since nobody waits: errors make listing slower, never wrong. */

#define PERIOD_FIRST 8U /* one name in so many is sent bare: while little is known, */
#define PERIOD_USER 64U /* for callers that use attributes, */
#define PERIOD_OTHER 1U /* and for other callers: all names */
#define ENOUGH 32U      /* bare names needed for a judgement */
#define WORTH_ONE_IN 3U /* share of attributes used below which LOOKUPs cost less (docs/benchmarks.md) */

static uint32_t load(const uint32_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void store(uint32_t *counter, uint32_t value) {
    __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* Few names may mislead by chance, but then the error costs little. */
static void judge(struct lister *lister) {
    uint32_t bare = load(&lister->bare_count);
    if (bare < ENOUGH)
        return;
    bool is_worth_it = WORTH_ONE_IN * load(&lister->looked_count) >= bare;
    uint32_t period = load(&lister->period) == PERIOD_OTHER ? PERIOD_FIRST : PERIOD_USER;
    store(&lister->period, is_worth_it ? period : PERIOD_OTHER);
    store(&lister->bare_count, 0);
    store(&lister->looked_count, 0);
}

/* The caller asks for names of the directory with their attributes.
 * Owner:   the layer; other threads may use it at any time */
static struct lister *start_listing(struct pass *pass, const struct fs_caller *caller, fs_ino directory) {
    uint32_t place = (uint32_t)caller->pid % PASS_LISTERS;
    struct lister *lister = &pass->listers[place];
    struct listed *listed = &pass->listed[directory % PASS_LISTERS];
    if (load(&lister->pid) != (uint32_t)caller->pid) {
        store(&lister->pid, (uint32_t)caller->pid);
        store(&lister->period, PERIOD_FIRST);
        store(&lister->name_count, 0);
        store(&lister->bare_count, 0);
        store(&lister->looked_count, 0);
    }
    judge(lister);
    __atomic_store_n(&listed->directory, directory, __ATOMIC_RELAXED);
    store(&listed->lister, place);
    return lister;
}

/* True if the next of these names is sent with attributes. */
static bool next_has_attributes(struct lister *lister) {
    uint32_t names = load(&lister->name_count) + 1;
    store(&lister->name_count, names);
    if (names % load(&lister->period) != 0)
        return true;
    store(&lister->bare_count, load(&lister->bare_count) + 1);
    return false;
}

/* Counts no more LOOKUPs than there are bare names: beyond that nothing is written, so no worker waits for another's
 * cache line. */
void pass_note_look(struct pass *pass, fs_ino directory) {
    const struct listed *listed = &pass->listed[directory % PASS_LISTERS];
    if (__atomic_load_n(&listed->directory, __ATOMIC_RELAXED) != directory)
        return;
    struct lister *lister = &pass->listers[load(&listed->lister)];
    uint32_t looked = load(&lister->looked_count);
    if (looked < load(&lister->bare_count))
        store(&lister->looked_count, looked + 1);
}

/* ---- Reading ---- */

/* Makes sure that the buffer holds entries from `offset` on. *ret_any: false at the end of the directory. */
static int refill(struct pass *pass, struct open_file *file, off_t offset, bool *ret_any) {
    if (!file->entries) {
        file->entries = malloc(PASS_ENTRIES_BYTES);
        if (!file->entries)
            return -ENOMEM;
        user_shares_take(&pass->entries_shares, file->uid, PASS_ENTRIES_BYTES);
    }
    if (offset != file->position || file->entries_used_bytes < file->entries_size_bytes || offset == 0) {
        if (lseek(file->fd, offset, SEEK_SET) < 0)
            return negative_errno();
        file->position = offset;
    }
    file->entries_size_bytes = 0; /* the entries are of another position, also if this fails */
    file->entries_used_bytes = 0;
    ssize_t read_bytes = getdents64(file->fd, file->entries, PASS_ENTRIES_BYTES);
    if (read_bytes < 0)
        return negative_errno();
    file->entries_size_bytes = (size_t)read_bytes;
    *ret_any = read_bytes > 0;
    return 0;
}

/* Where the entries go, and how. */
struct listing {
    struct pass *pass;
    const struct fs_caller *caller; /* entries are looked up for this caller; NULL: not looked up */
    struct lister *lister;          /* NULL with caller */
    fs_fill_fn fill;
    void *context;
    size_t offered_count; /* entries that fitted */
};

/* Offers one entry, with attributes if these are wanted. If the lookup fails, the entry is sent as a bare name: a
 * program that uses the name looks it up and gets the error. */
static bool offer(const struct listing *listing, const struct open_file *file, const struct dirent64 *lower) {
    struct pass *pass = listing->pass;
    struct fs_entry entry = {0};
    struct fs_dirent dirent = {
        .name = lower->d_name,
        .attr = {.st_ino = pass_shown_number(pass, file->inode->device, lower->d_ino),
                 .st_mode = DTTOIF(lower->d_type)},
        .next_offset = lower->d_off,
    };
    bool is_looked_up = listing->caller && pass_check_name(lower->d_name) == 0 && next_has_attributes(listing->lister);
    if (is_looked_up && pass_look_up_listed(pass, listing->caller, file->inode, file->fd, lower->d_name, &entry) == 0)
        dirent.entry = &entry;
    bool fits = listing->fill(listing->context, &dirent);
    if (!fits && dirent.entry)
        inode_table_forget(pass->inodes, entry.ino, 1);
    return fits;
}

static int read_entries(struct listing *listing, struct open_file *file, off_t offset) {
    bool any = true;
    bool rewound = offset == 0; /* shows new entries too */
    if (offset != file->position || file->entries_used_bytes == file->entries_size_bytes || rewound) {
        int err = refill(listing->pass, file, offset, &any);
        if (err < 0)
            return err;
    }
    bool fits = true;
    while (any && fits) {
        while (fits && file->entries_used_bytes < file->entries_size_bytes) {
            const struct dirent64 *lower = (const void *)(file->entries + file->entries_used_bytes);
            fits = offer(listing, file, lower);
            if (fits) {
                file->entries_used_bytes += lower->d_reclen;
                file->position = lower->d_off;
                listing->offered_count++;
            }
        }
        if (fits) {
            int err = refill(listing->pass, file, file->position, &any);
            if (err < 0)
                return listing->offered_count > 0 ? 0
                                                  : err; /* what was read is good; the next read returns the error */
        }
    }
    return 0;
}

/* lister: NULL: bare names are wanted */
static int read_directory(struct pass *pass, const struct fs_caller *caller, fs_file handle, off_t offset,
                          struct lister *lister, fs_fill_fn fill, void *context, size_t *ret_entry_count) {
    struct open_file *file = to_open_file(handle);
    if (pass_is_empty(pass, file->inode)) {
        *ret_entry_count = 0;
        return 0;
    }
    struct listing listing = {pass, lister ? caller : NULL, lister, fill, context, 0};
    pthread_mutex_lock(&file->stream_lock);
    int err = read_entries(&listing, file, offset);
    /* Entries are freed at the end of a directory, so that an open directory takes no more memory than a file; and if
     * the user's entries take too much, which makes the next read seek. */
    bool is_at_end = listing.offered_count == 0;
    if (is_at_end || !user_shares_are_left(&pass->entries_shares, file->uid)) {
        pass_drop_entries(pass, file);
        if (!is_at_end)
            file->position = NOWHERE;
    }
    pthread_mutex_unlock(&file->stream_lock);
    *ret_entry_count = listing.offered_count;
    return err;
}

int pass_op_readdir(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, fs_fill_fn fill, void *context,
                    size_t *ret_entry_count) {
    (void)ino;
    return read_directory(to_pass(layer), caller, file, offset, NULL, fill, context, ret_entry_count);
}

int pass_op_readdirplus(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, fs_fill_fn fill, void *context,
                        size_t *ret_entry_count) {
    struct lister *lister = start_listing(to_pass(layer), caller, ino);
    return read_directory(to_pass(layer), caller, file, offset, lister, fill, context, ret_entry_count);
}
