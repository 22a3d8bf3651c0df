/* All that root sees of a tree afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "permissions.h"

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void print_xattr(const char *path, const char *name) {
    unsigned char value[256];
    ssize_t size = lgetxattr(path, name, value, sizeof(value));
    printf(" %s=", name);
    for (ssize_t i = 0; i < size; i++)
        printf("%02x", value[i]);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_xattrs(const char *path) {
    char names[1024];
    char *sorted[32];
    size_t count = 0;
    ssize_t size = llistxattr(path, names, sizeof(names));
    for (char *name = names; name < names + size && count < ARRAY_SIZE(sorted); name += strlen(name) + 1)
        sorted[count++] = name;
    qsort(sorted, count, sizeof(*sorted), by_text);
    for (size_t i = 0; i < count; i++)
        print_xattr(path, sorted[i]);
}

static void print_flags(const char *path) {
    int flags = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0)
        printf(" flags %x", (unsigned)flags & (FS_APPEND_FL | FS_IMMUTABLE_FL | FS_NODUMP_FL));
    if (fd >= 0)
        close(fd);
}

static void print_entry(const FTSENT *entry, const char *identity) {
    const struct stat *st = entry->fts_statp;
    printf("%s | %s | BELOW -> %06o %u:%u links %lu", identity, entry->fts_path, st->st_mode, st->st_uid, st->st_gid,
           (unsigned long)st->st_nlink);
    if (!S_ISDIR(st->st_mode))
        printf(" size %lld device %u:%u", (long long)st->st_size, major(st->st_rdev), minor(st->st_rdev));
    print_xattrs(entry->fts_path);
    if (S_ISDIR(st->st_mode) || S_ISREG(st->st_mode))
        print_flags(entry->fts_path);
    putchar('\n');
}

int manifest_print(const char *directory, const char *identity) {
    must(chdir(directory) == 0, "enter", directory);
    char here[] = ".";
    char *roots[] = {here, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    must(tree != NULL, "list", directory);
    for (FTSENT *entry; (entry = fts_read(tree));)
        if (entry->fts_info != FTS_DP)
            print_entry(entry, identity);
    fts_close(tree);
    return 0;
}
