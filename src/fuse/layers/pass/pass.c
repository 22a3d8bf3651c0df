/* Creating and destroying a pass layer, and its vector. */
#include "pass_private.h"
#include "seen_names.h"

#include <grp.h>
#include <stdalign.h>
#include <sys/resource.h>

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    inode_table_forget(to_pass(layer)->inodes, ino, count);
}

#define PASS_ROW(NAME, member, params, ...) .member = pass_op_##member,
static const struct fs_ops pass_ops = {FS_OPS(PASS_ROW).forget = forget};

#define LIMIT_BY_DEFAULT 1024U /* the usual limit; a lower one was set on purpose */
#define ENTRIES_KEPT_BYTES_MAX ((size_t)64 << 20)

/* Raises it as far as possible: a hard limit of 1024 or more up to what the system allows a process, which can be
 * reached only with CAP_SYS_RESOURCE. */
static size_t raise_open_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1024;
    char text[32];
    const rlim_t most =
        read_beginning(AT_FDCWD, "/proc/sys/fs/nr_open", text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
    struct rlimit raised = {.rlim_cur = most, .rlim_max = most};
    if (limit.rlim_max >= LIMIT_BY_DEFAULT && limit.rlim_max < most && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        return most;
    raised = (struct rlimit){.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (limit.rlim_cur < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX / 2 : limit.rlim_cur;
}

/* Inodes with handles may hold this many descriptors, mainly directories, for lookups in them. */
static size_t path_fds_max(size_t limit) {
    return limit / 4;
}

/* Divides the descriptors. If inodes are found by name, their descriptors give way to open files. If only a mount below
 * the root has such inodes, they get a small part. */
static void share_out(struct pass *pass, size_t limit) {
    bool has_handles = mount_table_get(&pass->mounts, 0)->fd >= 0;
    const size_t share = limit < 128 ? limit / 8 * 3 : limit / 4;
    const size_t room =
        limit - (share < 128 ? share : 128); /* the rest: what an op needs for a moment, and the daemon's */
    size_t open_files_max = has_handles ? limit - path_fds_max(limit) : room - room / 8;
    pass->path_fds_room = has_handles ? room - path_fds_max(limit) : room;
    pass->path_fds_max = has_handles ? limit / 8 : room;
    user_shares_init(&pass->open_file_shares, open_files_max, pass->own_uid);
}

/* A small part of all descriptors, so that recent descriptors never exhaust the limit. */
static unsigned recent_max(size_t limit) {
    size_t share = limit / 16;
    return share < 1 ? 1 : share < PASS_RECENT ? (unsigned)share : PASS_RECENT;
}

static int open_proc(struct pass *pass) {
    pass->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (pass->proc_fd < 0)
        return negative_errno();
    pass->proc_self_fd = openat(pass->proc_fd, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (pass->proc_self_fd < 0)
        return negative_errno();
    (void)fstatat(pass->proc_fd, "self/ns/user", &pass->user_namespace, 0); /* on failure there are no others */
    return 0;
}

/* Looks the root up like any other inode, so that further names of the root find the same inode. Its number is 1. */
static int enter_root(struct pass *pass, const struct pass_options *options, size_t limit, int *root_fd) {
    struct stat attr;
    if (fstat(*root_fd, &attr) < 0)
        return negative_errno();
    pass->root_device = attr.st_dev;
    uint32_t mount_index;
    int err = mount_table_find(&pass->mounts, *root_fd, pass->proc_self_fd, &mount_index);
    if (err == 0 && mount_table_get(&pass->mounts, mount_index)->is_empty)
        err = -EACCES;
    if (err < 0)
        return err;
    share_out(pass, limit);
    user_shares_init(&pass->entries_shares, ENTRIES_KEPT_BYTES_MAX, pass->own_uid);
    err = inode_table_create(path_fds_max(limit), options->forgotten_inodes_max, &pass->mounts, &pass->inodes);
    if (err < 0)
        return err;
    if (options->keeps_names && pass_keep_names(pass, true) < 0)
        return -ENOMEM;
    struct fs_entry entry;
    return pass_enter_held(pass, mount_index, NULL, true, root_fd, &entry);
}

int pass_keep_names(struct pass *pass, bool keeps) {
    struct seen_names *names = pass->own_names ? pass->own_names : keeps ? seen_names_create() : NULL;
    if (keeps && !names)
        return -ENOMEM;
    pass->own_names = names;
    if (keeps == (__atomic_load_n(&pass->seen_names, __ATOMIC_RELAXED) != NULL))
        return 0;
    if (keeps)
        seen_names_clear(names);
    inode_table_keep_above(pass->inodes, keeps);
    __atomic_store_n(&pass->seen_names, keeps ? names : NULL, __ATOMIC_RELEASE);
    return 0;
}

static void do_later(void *data) {
    pass_close_recent(data);
    pass_ask_to_forget(data);
}

int pass_create(const struct pass_options *options, struct pass **ret_pass) {
    CLEANUP_FD int root_fd = options->root_fd;
    const size_t limit = raise_open_file_limit();
    struct pass *pass = aligned_alloc(alignof(struct pass), sizeof(*pass));
    if (!pass)
        return -ENOMEM;
    *pass = (struct pass){.inodes = NULL};
    pass->layer.ops = &pass_ops;
    pass->own_uid = geteuid();
    pass->own_gid = getegid();
    pass->check_as_caller = options->check_as_caller;
    pass->no_atime = options->no_atime;
    pass->no_directory_atime = options->no_directory_atime;
    pass->call_later = options->call_later;
    pass->do_later = do_later;
    pass->ask_to_forget = options->ask_to_forget;
    pass->ask_context = options->context;
    pass->recent_max = recent_max(limit);
    pass->proc_fd = -1;
    pass->proc_self_fd = -1;
    pass->spare_fd = -1;
    pass->own_mount.table_fd = -1;
    pthread_mutex_init(&pass->own_mount.lock, NULL);
    pthread_mutex_init(&pass->open_files_lock, NULL);
    pthread_mutex_init(&pass->lock_owners_lock, NULL);

    int err = mount_table_init(&pass->mounts, options->shows_pseudo);
    if (err == 0)
        err = open_proc(pass);
    if (err == 0)
        pass_find_overflow_ids(pass);
    if (err == 0)
        err = enter_root(pass, options, limit, &root_fd);
    if (err < 0) {
        pass_destroy(pass);
        return err;
    }
    pass->privileged = identity_can_change();
    if (pass->privileged)
        (void)setgroups(0, NULL); /* root needs no groups, and callers must not profit from them */
    pass_keep_spare_fd(pass);
    *ret_pass = pass;
    return 0;
}

void pass_destroy(struct pass *pass) {
    if (!pass)
        return;
    pass_drop_all_locks(pass);
    if (pass->inodes)
        pass_close_all_files(pass);
    pass_close_recent(pass);
    inode_table_destroy(pass->inodes);
    free(pass->own_names);
    if (pass->mounts.mounts)
        mount_table_finish(&pass->mounts);
    close_fd(&pass->proc_self_fd);
    close_fd(&pass->spare_fd);
    close_fd(&pass->proc_fd);
    close_fd(&pass->own_mount.table_fd);
    pthread_mutex_destroy(&pass->own_mount.lock);
    pthread_mutex_destroy(&pass->open_files_lock);
    pthread_mutex_destroy(&pass->lock_owners_lock);
    free(pass);
}

struct fs_layer *pass_layer(struct pass *pass) {
    return &pass->layer;
}

int pass_act_as(const struct pass *pass, const struct fs_caller *caller, int (*apply)(void *data), void *data) {
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = identity_enter_unchecked(pass, caller, &identity);
    return err < 0 ? err : apply(data);
}

void pass_end(struct pass *pass) {
    __atomic_store_n(&pass->is_ending, true, __ATOMIC_RELAXED);
}

void pass_set_own_device(struct pass *pass, dev_t device) {
    __atomic_store_n(&pass->own_device, device, __ATOMIC_RELAXED);
}
