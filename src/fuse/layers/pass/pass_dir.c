/* Reading directories. Positions are the lower file system's own, so that telldir and seekdir work; seek and read
 * happen under the stream's lock. */
#include <dirent.h>
#include <string.h>

#include "pass_private.h"

#define NOWHERE ((off_t)-1) /* no position of a directory */

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
    bool is_looked_up =
        listing->caller && pass_check_name(lower->d_name) == 0 && pass_next_has_attributes(listing->lister);
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
    struct lister *lister = pass_start_listing(to_pass(layer), caller, ino);
    return read_directory(to_pass(layer), caller, file, offset, lister, fill, context, ret_entry_count);
}
