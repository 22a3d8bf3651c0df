/* Routes ops to the files served here or to the layer below, and implements these files.
 *
 * Every op is routed by its inode; ops that name something in the root are also routed by the name. The files can be
 * looked up by name, and are not listed, so that programs that walk trees do not find them. */
#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "process_rights.h"

static struct ctl *to_ctl(struct fs_layer *layer) {
    return container_of(layer, struct ctl, layer);
}

/* ---- The files ---- */

/* A row per file, in the order of their inodes. Only a file with mode 0644 accepts commands. */
static const struct served_file {
    const char *suffix; /* after the control file's name */
    const struct view *view;
    mode_t mode;
} served_files[CTL_FILES] = {
    {"", &view_text, 0644},
    {".json", &view_json, 0444},
    {".metrics", &view_metrics, 0444},
};

static const struct served_file *served_file(fs_ino ino) {
    return &served_files[ino - CTL_INO];
}

void ctl_name(const char *control_name, unsigned index, char ret_name[NAME_MAX + 1]) {
    snprintf(ret_name, NAME_MAX + 1, "%s%s", control_name, served_files[index].suffix);
}

/* The inode of the file served under that name; 0: none. */
static fs_ino served_as(const struct ctl *ctl, fs_ino parent, const char *name) {
    size_t length = strlen(ctl->options.name);
    if (parent != FS_ROOT_INO || strncmp(name, ctl->options.name, length) != 0)
        return 0;
    for (unsigned i = 0; i < CTL_FILES; i++) {
        if (strcmp(name + length, served_files[i].suffix) == 0)
            return CTL_INO + i;
    }
    return 0;
}

/* An open file: the text as of its opening. */
struct ctl_file {
    struct ctl_file *next; /* list of open files; under their lock, as the next */
    struct ctl_file *before;
    struct control_text text;
    uid_t counted_for;
    size_t counted_bytes; /* charged to the share of untrusted users; 0: none */
};

static struct ctl_file *to_ctl_file(fs_file file) {
    return (struct ctl_file *)(uintptr_t)file; /* NOLINT(performance-no-int-to-ptr): we made it from one */
}

static bool is_trusted(const struct ctl *ctl, const struct fs_caller *caller) {
    return ctl->options.is_trusted(ctl->options.context, caller);
}

static bool may_write(const struct ctl *ctl, fs_ino ino, const struct fs_caller *caller) {
    return served_file(ino)->mode & S_IWUSR && is_trusted(ctl, caller);
}

static struct stat served_attr(const struct ctl *ctl, fs_ino ino) {
    return (struct stat){
        .st_ino = ino,
        .st_mode = S_IFREG | served_file(ino)->mode,
        .st_nlink = 1,
        .st_uid = ctl->options.owner_uid,
        .st_gid = ctl->options.owner_gid,
        .st_blksize = 4096,
        .st_atim = ctl->started,
        .st_mtim = ctl->started,
        .st_ctim = ctl->started,
    };
}

static int control_getattr(struct fs_layer *layer, FS_CALL, fs_file file, struct stat *ret_attr) {
    (void)caller, (void)file;
    *ret_attr = served_attr(to_ctl(layer), ino);
    return 0;
}

static struct statx_timestamp served_time(const struct ctl *ctl) {
    return (struct statx_timestamp){.tv_sec = ctl->started.tv_sec, .tv_nsec = (uint32_t)ctl->started.tv_nsec};
}

static int control_statx(struct fs_layer *layer, FS_CALL, fs_file file, int flags, unsigned mask,
                         struct statx *ret_attr) {
    const struct ctl *ctl = to_ctl(layer);
    const struct stat attr = served_attr(ctl, ino);
    (void)caller, (void)file, (void)flags, (void)mask;
    *ret_attr = (struct statx){
        .stx_mask = STATX_BASIC_STATS | STATX_BTIME,
        .stx_ino = attr.st_ino,
        .stx_mode = (uint16_t)attr.st_mode,
        .stx_nlink = (uint32_t)attr.st_nlink,
        .stx_uid = attr.st_uid,
        .stx_gid = attr.st_gid,
        .stx_blksize = (uint32_t)attr.st_blksize,
        .stx_atime = served_time(ctl),
        .stx_mtime = served_time(ctl),
        .stx_ctime = served_time(ctl),
        .stx_btime = served_time(ctl),
    };
    return 0;
}

/* `echo reset > .osprof` truncates first: this succeeds and does nothing. */
static int control_setattr(struct fs_layer *layer, FS_CALL, fs_file file, const struct stat *attr, int which,
                           struct stat *ret_attr) {
    (void)file, (void)attr;
    if (which & (FS_SET_MODE | FS_SET_UID | FS_SET_GID) || !may_write(to_ctl(layer), ino, caller))
        return -EPERM;
    *ret_attr = served_attr(to_ctl(layer), ino);
    return 0;
}

static int control_access(struct fs_layer *layer, FS_CALL, int mask) {
    bool denied = mask & X_OK || (mask & W_OK && !may_write(to_ctl(layer), ino, caller));
    return denied ? -EACCES : 0;
}

/* For untrusted callers makes one text at a time, so that texts under construction do not exceed the limit either. */
static int make_text(struct ctl *ctl, const struct fs_caller *caller, const struct view *view, struct ctl_file *file) {
    if (is_trusted(ctl, caller))
        return control_read(&ctl->options.control, view, true, &file->text);
    int err = -ENFILE;
    pthread_mutex_lock(&ctl->others_lock);
    if (user_shares_are_left(&ctl->others_bytes, caller->uid))
        err = control_read(&ctl->options.control, view, false, &file->text);
    if (err == 0)
        file->counted_bytes = file->text.size_bytes;
    file->counted_for = caller->uid;
    user_shares_take(&ctl->others_bytes, caller->uid, file->counted_bytes);
    pthread_mutex_unlock(&ctl->others_lock);
    return err;
}

static void add_open_file(struct ctl *ctl, struct ctl_file *file) {
    pthread_mutex_lock(&ctl->files_lock);
    file->next = ctl->open_files;
    if (file->next)
        file->next->before = file;
    ctl->open_files = file;
    pthread_mutex_unlock(&ctl->files_lock);
}

static void remove_open_file(struct ctl *ctl, struct ctl_file *file) {
    pthread_mutex_lock(&ctl->files_lock);
    if (file->before)
        file->before->next = file->next;
    else
        ctl->open_files = file->next;
    if (file->next)
        file->next->before = file->before;
    pthread_mutex_unlock(&ctl->files_lock);
}

static int control_open(struct fs_layer *layer, FS_CALL, int flags, fs_file *ret_file) {
    struct ctl *ctl = to_ctl(layer);
    if ((flags & O_ACCMODE) != O_RDONLY && !may_write(ctl, ino, caller))
        return -EACCES;
    CLEANUP_FREE struct ctl_file *file = calloc(1, sizeof(*file));
    if (!file)
        return -ENOMEM;
    if ((flags & O_ACCMODE) != O_WRONLY) {
        int err = make_text(ctl, caller, served_file(ino)->view, file);
        if (err < 0)
            return err;
    }
    add_open_file(ctl, file);
    *ret_file = (fs_file)(uintptr_t)steal_pointer(&file);
    return 0;
}

static int control_release(struct fs_layer *layer, FS_CALL, fs_file file) {
    struct ctl_file *open_file = to_ctl_file(file);
    (void)caller, (void)ino;
    remove_open_file(to_ctl(layer), open_file);
    free(open_file->text.text);
    user_shares_give(&to_ctl(layer)->others_bytes, open_file->counted_for, open_file->counted_bytes);
    free(open_file);
    return 0;
}

static int control_read_text(struct fs_layer *layer, FS_CALL, fs_file file, struct fs_read_into *into,
                             size_t size_bytes, off_t offset, size_t *ret_read_bytes) {
    const struct control_text *text = &to_ctl_file(file)->text;
    size_t rest_bytes = (uint64_t)offset < text->size_bytes ? text->size_bytes - (size_t)offset : 0;
    size_t read_bytes = size_bytes < rest_bytes ? size_bytes : rest_bytes;
    (void)layer, (void)caller, (void)ino;
    if (read_bytes > 0)
        memcpy(into->memory, text->text + offset, read_bytes);
    *ret_read_bytes = read_bytes;
    return 0;
}

/* The caller of a command that names a file. */
struct named_by {
    const struct ctl_options *options;
    const struct fs_caller *caller;
};

static int act_as_caller(void *context, int (*apply)(void *data), void *data) {
    const struct named_by *by = context;
    return by->options->act_as(by->options->context, by->caller, apply, data);
}

/* The process that opened the file may have passed it on, so the writer must be trusted, too. */
static int control_command(struct fs_layer *layer, FS_CALL, fs_file file, const void *data, size_t size_bytes,
                           off_t offset, unsigned flags, size_t *ret_written_bytes) {
    const struct ctl_options *options = &to_ctl(layer)->options;
    struct named_by by = {options, caller};
    char reason[CONTROL_REASON_SIZE];
    (void)file, (void)offset, (void)flags;
    if (!may_write(to_ctl(layer), ino, caller))
        return -EACCES;
    const struct control_asker asker = {
        .has_our_paths = process_has_our_paths(caller->pid), .fd = -1, .act = act_as_caller, .context = &by};
    int err = control_write(&options->control, &asker, data, size_bytes, reason);
    if (err < 0) {
        options->report(options->report_context, reason);
        return err;
    }
    *ret_written_bytes = size_bytes;
    return 0;
}

static int control_flush(struct fs_layer *layer, FS_CALL, fs_file file, uint64_t lock_owner) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)lock_owner;
    return 0;
}

static int control_fsync(struct fs_layer *layer, FS_CALL, fs_file file, bool data_only) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)data_only;
    return 0;
}

static int control_getxattr(struct fs_layer *layer, FS_CALL, const char *name, void *value, size_t size_bytes,
                            size_t *ret_size_bytes) {
    (void)layer, (void)caller, (void)ino, (void)name, (void)value, (void)size_bytes, (void)ret_size_bytes;
    return -ENODATA;
}

static int control_listxattr(struct fs_layer *layer, FS_CALL, char *names, size_t size_bytes, size_t *ret_size_bytes) {
    (void)layer, (void)caller, (void)ino, (void)names, (void)size_bytes;
    *ret_size_bytes = 0;
    return 0;
}

static int control_ioctl(struct fs_layer *layer, FS_CALL, fs_file file, const struct fs_ioctl *call, int *ret_result) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)call, (void)ret_result;
    return -ENOTTY;
}

/* Always ready, as the kernel assumes after ENOSYS. */
static int control_poll(struct fs_layer *layer, FS_CALL, fs_file file, unsigned *ret_events) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)ret_events;
    return -ENOSYS;
}

/* Passed directly to the lowest layer: ops on these files are not profiled. */
static int control_statfs(struct fs_layer *layer, FS_CALL, struct statvfs *ret_statfs) {
    (void)ino;
    while (layer->next)
        layer = layer->next;
    return layer->ops->statfs(layer, caller, FS_ROOT_INO, ret_statfs);
}

/* The ops on these files; all others fail with EPERM. */
static const struct fs_ops served_ops = {
    .getattr = control_getattr,
    .statx = control_statx,
    .setattr = control_setattr,
    .access = control_access,
    .open = control_open,
    .release = control_release,
    .read = control_read_text,
    .write = control_command,
    .flush = control_flush,
    .fsync = control_fsync,
    .getxattr = control_getxattr,
    .listxattr = control_listxattr,
    .statfs = control_statfs,
    .ioctl = control_ioctl,
    .poll = control_poll,
};

/* ---- Routing by inode: every op ---- */

#define ROUTE(NAME, member, params, ...)                                                                               \
    static int route_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                         \
        if (ctl_serves(ino))                                                                                           \
            return served_ops.member ? served_ops.member(layer, FS_ARGUMENTS(params)) : -EPERM;                        \
        return FS_MEMBER_NOW(layer->next, member)(layer->next, FS_ARGUMENTS(params));                                  \
    }
FS_OPS(ROUTE)

#define ROUTE_ROW(NAME, member, params, ...) .member = route_##member,
static const struct fs_ops routed_ops = {FS_OPS(ROUTE_ROW).forget = NULL};

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    if (!ctl_serves(ino))
        layer->next->ops->forget(layer->next, ino, count);
}

/* ---- Routing by name: ops in the root ---- */

static int lookup(struct fs_layer *layer, FS_CALL, const char *name, struct fs_entry *ret_entry) {
    struct ctl *ctl = to_ctl(layer);
    bool itself = ctl_serves(ino) && strcmp(name, ".") == 0; /* from a file handle */
    fs_ino served = itself ? ino : served_as(ctl, ino, name);
    if (!served)
        return route_lookup(layer, caller, ino, name, ret_entry);
    *ret_entry = (struct fs_entry){.ino = served, .attr = served_attr(ctl, served)};
    return 0;
}

static int create(struct fs_layer *layer, FS_CALL, const char *name, mode_t mode, int flags, struct fs_entry *ret_entry,
                  fs_file *ret_file) {
    struct ctl *ctl = to_ctl(layer);
    fs_ino served = served_as(ctl, ino, name);
    if (!served)
        return route_create(layer, caller, ino, name, mode, flags, ret_entry, ret_file);
    if (flags & O_EXCL)
        return -EEXIST;
    int err = control_open(layer, caller, served, flags, ret_file);
    if (err == 0)
        *ret_entry = (struct fs_entry){.ino = served, .attr = served_attr(ctl, served)};
    return err;
}

static int mknod_named(struct fs_layer *layer, FS_CALL, const char *name, mode_t mode, dev_t device,
                       struct fs_entry *ret_entry) {
    if (served_as(to_ctl(layer), ino, name))
        return -EEXIST;
    return route_mknod(layer, caller, ino, name, mode, device, ret_entry);
}

static int mkdir_named(struct fs_layer *layer, FS_CALL, const char *name, mode_t mode, struct fs_entry *ret_entry) {
    if (served_as(to_ctl(layer), ino, name))
        return -EEXIST;
    return route_mkdir(layer, caller, ino, name, mode, ret_entry);
}

static int symlink_named(struct fs_layer *layer, FS_CALL, const char *name, const char *target,
                         struct fs_entry *ret_entry) {
    if (served_as(to_ctl(layer), ino, name))
        return -EEXIST;
    return route_symlink(layer, caller, ino, name, target, ret_entry);
}

static int link_named(struct fs_layer *layer, FS_CALL, fs_ino new_parent, const char *new_name,
                      struct fs_entry *ret_entry) {
    if (served_as(to_ctl(layer), new_parent, new_name))
        return -EEXIST;
    return route_link(layer, caller, ino, new_parent, new_name, ret_entry);
}

static int unlink_named(struct fs_layer *layer, FS_CALL, const char *name) {
    if (served_as(to_ctl(layer), ino, name))
        return -EPERM;
    return route_unlink(layer, caller, ino, name);
}

static int rmdir_named(struct fs_layer *layer, FS_CALL, const char *name) {
    if (served_as(to_ctl(layer), ino, name))
        return -ENOTDIR;
    return route_rmdir(layer, caller, ino, name);
}

static int rename_named(struct fs_layer *layer, FS_CALL, const char *name, fs_ino new_parent, const char *new_name) {
    const struct ctl *ctl = to_ctl(layer);
    if (served_as(ctl, ino, name) || served_as(ctl, new_parent, new_name))
        return -EPERM;
    return route_rename(layer, caller, ino, name, new_parent, new_name);
}

static int rename2_named(struct fs_layer *layer, FS_CALL, const char *name, fs_ino new_parent, const char *new_name,
                         unsigned flags) {
    const struct ctl *ctl = to_ctl(layer);
    if (served_as(ctl, ino, name) || served_as(ctl, new_parent, new_name))
        return -EPERM;
    return route_rename2(layer, caller, ino, name, new_parent, new_name, flags);
}

/* Either of the two files may be served here. */
static int copy_file_range_between(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, fs_ino out_ino,
                                   fs_file out_file, off_t out_offset, size_t size_bytes, unsigned flags,
                                   size_t *ret_copied_bytes) {
    if (ctl_serves(out_ino))
        return -EPERM;
    return route_copy_file_range(layer, caller, ino, file, offset, out_ino, out_file, out_offset, size_bytes, flags,
                                 ret_copied_bytes);
}

/* A lower file of the same name as one of ours is not listed. */
struct filter {
    fs_fill_fn fill;
    void *context;
    struct fs_layer *layer;
};

static bool fill_unless_hidden(void *context, const struct fs_dirent *dirent) {
    const struct filter *filter = context;
    if (!served_as(to_ctl(filter->layer), FS_ROOT_INO, dirent->name))
        return filter->fill(filter->context, dirent);
    if (dirent->entry)
        filter->layer->next->ops->forget(filter->layer->next, dirent->entry->ino, 1);
    return true;
}

static int readdir_filtered(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, fs_fill_fn fill, void *context,
                            size_t *ret_entry_count) {
    struct filter filter = {fill, context, layer};
    if (ino == FS_ROOT_INO)
        return route_readdir(layer, caller, ino, file, offset, fill_unless_hidden, &filter, ret_entry_count);
    return route_readdir(layer, caller, ino, file, offset, fill, context, ret_entry_count);
}

static int readdirplus_filtered(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, fs_fill_fn fill,
                                void *context, size_t *ret_entry_count) {
    struct filter filter = {fill, context, layer};
    if (ino == FS_ROOT_INO)
        return route_readdirplus(layer, caller, ino, file, offset, fill_unless_hidden, &filter, ret_entry_count);
    return route_readdirplus(layer, caller, ino, file, offset, fill, context, ret_entry_count);
}

void ctl_init(struct ctl *ctl, const struct ctl_options *options, struct fs_layer *next) {
    *ctl = (struct ctl){.ops = routed_ops,
                        .options = *options,
                        .layer.next = next,
                        .files_lock = PTHREAD_MUTEX_INITIALIZER,
                        .others_lock = PTHREAD_MUTEX_INITIALIZER};
    user_shares_init(&ctl->others_bytes, CTL_OTHERS_BYTES_MAX, options->owner_uid);
    ctl->layer.ops = &ctl->ops;
    ctl->ops.forget = forget;
    ctl->ops.lookup = lookup;
    ctl->ops.create = create;
    ctl->ops.mknod = mknod_named;
    ctl->ops.mkdir = mkdir_named;
    ctl->ops.symlink = symlink_named;
    ctl->ops.link = link_named;
    ctl->ops.unlink = unlink_named;
    ctl->ops.rmdir = rmdir_named;
    ctl->ops.rename = rename_named;
    ctl->ops.rename2 = rename2_named;
    ctl->ops.copy_file_range = copy_file_range_between;
    ctl->ops.readdir = readdir_filtered;
    ctl->ops.readdirplus = readdirplus_filtered;
    clock_gettime(CLOCK_REALTIME, &ctl->started);
}

void ctl_finish(struct ctl *ctl) {
    struct ctl_file *next;
    for (struct ctl_file *file = ctl->open_files; file; file = next) {
        next = file->next;
        free(file->text.text);
        free(file);
    }
    ctl->open_files = NULL;
}
