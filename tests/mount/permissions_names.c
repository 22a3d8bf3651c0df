/* What is tried in each directory: making, removing, replacing and moving names. Each row has names of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "permissions.h"

enum { NAME_ROOM = 300 };

/* Kinds of what there is, as objects have them; 0 is nothing. */
struct row {
    const char *name;
    int (*make)(const char *from, const char *to, long argument);
    long argument;
    char from;
    enum owner from_owner;
    char to;
    enum owner to_owner;
};

static int make_file(const char *from, const char *to, long flags) {
    (void)from;
    int fd = open(to, (int)flags | O_CREAT | O_CLOEXEC, 06666);
    if (fd < 0)
        return -1;
    note(" write %s", outcome(write(fd, "new", 3)));
    close(fd);
    return 0;
}

static int open_and_close(const char *path, int flags, mode_t mode) {
    int fd = open(path, flags | O_CLOEXEC, mode);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int make_nameless(const char *from, const char *to, long mode) {
    char directory[NAME_ROOM];
    (void)from;
    (void)mode;
    snprintf(directory, sizeof(directory), "%s/..", to);
    return open_and_close(directory, O_TMPFILE | O_WRONLY, 0644);
}

static int make_directory(const char *from, const char *to, long mode) {
    (void)from;
    return mkdir(to, (mode_t)mode);
}

static int make_node(const char *from, const char *to, long mode) {
    (void)from;
    return mknod(to, (mode_t)mode, S_ISCHR(mode) ? makedev(1, 3) : 0);
}

static int make_symlink(const char *from, const char *to, long argument) {
    (void)from;
    (void)argument;
    return symlink("target", to);
}

static int make_bound(const char *from, const char *to, long argument) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)from;
    (void)argument;
    snprintf(address.sun_path, sizeof(address.sun_path), "%.107s", to);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int caller = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = bind(listener, (struct sockaddr *)&address, sizeof(address));
    int saved_errno = errno;
    if (result == 0 && listen(listener, 1) == 0)
        note(" connect %s", outcome(connect(caller, (struct sockaddr *)&address, sizeof(address))));
    close(listener);
    close(caller);
    errno = saved_errno;
    return result;
}

static int make_link(const char *from, const char *to, long argument) {
    (void)argument;
    return link(from, to);
}

static int make_rename(const char *from, const char *to, long flags) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, (unsigned)flags);
}

/* Another name than from's parent has for it. */
static const char *outside(const char *path, char *room, size_t size) {
    snprintf(room, size, "elsewhere/%s", path);
    for (char *c = room + sizeof("elsewhere"); *c; c++)
        if (*c == '/')
            *c = ' ';
    return room;
}

static int make_rename_out(const char *from, const char *to, long argument) {
    char room[NAME_ROOM];
    (void)to;
    (void)argument;
    return rename(from, outside(from, room, sizeof(room)));
}

static int make_rename_in(const char *from, const char *to, long argument) {
    char room[NAME_ROOM];
    (void)from;
    (void)argument;
    const char *outer = outside(to, room, sizeof(room));
    close(open(outer, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    return rename(outer, to);
}

static int make_removal(const char *from, const char *to, long flags) {
    (void)to;
    return unlinkat(AT_FDCWD, from, (int)flags);
}

static int make_lookup(const char *from, const char *to, long argument) {
    struct stat st;
    (void)to;
    (void)argument;
    return stat(from, &st);
}

static int make_opened(const char *from, const char *to, long flags) {
    (void)to;
    return open_and_close(from, (int)flags, 0666);
}

/* A descriptor that outlives the name. */
static int make_orphan(const char *from, const char *to, long flags) {
    (void)to;
    int fd = open(from, (int)flags | O_CLOEXEC);
    if (fd < 0)
        return -1;
    struct stat st = {0};
    int result = unlink(from);
    if (result == 0)
        note(" then stat %s", outcome(fstat(fd, &st)));
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return result;
}

#define MADE 0, ROOT, 0, ROOT

static const struct row rows[] = {
    {"creat O_WRONLY", make_file, O_WRONLY, MADE},
    {"creat O_RDONLY", make_file, O_RDONLY, MADE},
    {"creat O_RDWR|O_EXCL", make_file, O_RDWR | O_EXCL, MADE},
    {"creat O_WRONLY|O_TRUNC", make_file, O_WRONLY | O_TRUNC, MADE},
    {"creat over other's", make_file, O_WRONLY, 0, ROOT, 'f', OTHER},
    {"creat over one's own", make_file, O_WRONLY | O_TRUNC, 0, ROOT, 'f', ME},
    {"O_TMPFILE", make_nameless, 0, 0, ROOT, 'd', ME},
    {"mkdir 0777", make_directory, 0777, MADE},
    {"mkdir 01777", make_directory, 01777, MADE},
    {"mkdir 02700", make_directory, 02700, MADE},
    {"mknod file", make_node, S_IFREG | 0666, MADE},
    {"mknod set-gid file", make_node, S_IFREG | 02755, MADE},
    {"mknod fifo", make_node, S_IFIFO | 0666, MADE},
    {"mknod socket", make_node, S_IFSOCK | 0666, MADE},
    {"mknod device", make_node, S_IFCHR | 0666, MADE},
    {"mknod whiteout", make_node, S_IFCHR, MADE},
    {"symlink", make_symlink, 0, MADE},
    {"bind", make_bound, 0, MADE},
    {"stat", make_lookup, 0, 'f', OTHER, 0, ROOT},
    {"open O_RDONLY", make_opened, O_RDONLY, 'f', OTHER, 0, ROOT},
    {"open O_WRONLY|O_TRUNC my", make_opened, O_WRONLY | O_TRUNC, 'f', ME, 0, ROOT},
    {"open fifo with O_CREAT", make_opened, O_RDWR | O_NONBLOCK | O_CREAT, 'p', ME, 0, ROOT},
    {"link root's", make_link, 0, 'f', ROOT, 0, ROOT},
    {"link other's", make_link, 0, 'f', OTHER, 0, ROOT},
    {"link mine", make_link, 0, 'f', ME, 0, ROOT},
    {"unlink root's", make_removal, 0, 'f', ROOT, 0, ROOT},
    {"unlink other's", make_removal, 0, 'f', OTHER, 0, ROOT},
    {"unlink mine", make_removal, 0, 'f', ME, 0, ROOT},
    {"unlink directory", make_removal, 0, 'd', ME, 0, ROOT},
    {"rmdir other's", make_removal, AT_REMOVEDIR, 'd', OTHER, 0, ROOT},
    {"rmdir mine", make_removal, AT_REMOVEDIR, 'd', ME, 0, ROOT},
    {"orphan O_PATH", make_orphan, O_PATH, 'f', ME, 0, ROOT},
    {"orphan O_PATH fifo", make_orphan, O_PATH, 'p', ME, 0, ROOT},
    {"orphan O_RDONLY", make_orphan, O_RDONLY, 'f', ME, 0, ROOT},
    {"rename other's", make_rename, 0, 'f', OTHER, 0, ROOT},
    {"rename mine", make_rename, 0, 'f', ME, 0, ROOT},
    {"rename mine over other's", make_rename, 0, 'f', ME, 'f', OTHER},
    {"rename other's over mine", make_rename, 0, 'f', OTHER, 'f', ME},
    {"rename my directory", make_rename, 0, 'd', ME, 0, ROOT},
    {"rename directory over other's", make_rename, 0, 'd', ME, 'd', OTHER},
    {"rename exchange mine", make_rename, RENAME_EXCHANGE, 'f', ME, 'f', ME},
    {"rename exchange with other's", make_rename, RENAME_EXCHANGE, 'f', ME, 'f', OTHER},
    {"rename noreplace", make_rename, RENAME_NOREPLACE, 'f', ME, 0, ROOT},
    {"rename noreplace over other's", make_rename, RENAME_NOREPLACE, 'f', ME, 'f', OTHER},
    {"rename whiteout", make_rename, RENAME_WHITEOUT, 'f', ME, 0, ROOT},
    {"rename other's out", make_rename_out, 0, 'f', OTHER, 0, ROOT},
    {"rename mine out", make_rename_out, 0, 'f', ME, 0, ROOT},
    {"rename other's directory out", make_rename_out, 0, 'd', OTHER, 0, ROOT},
    {"rename in", make_rename_in, 0, MADE},
};

static void names_of(const char *directory, const struct row *row, char *ret_from, char *ret_to) {
    snprintf(ret_from, NAME_ROOM, "%s/%s from", directory, row->name);
    snprintf(ret_to, NAME_ROOM, "%s/%s", directory, row->name);
}

void names_prepare(const char *directory, unsigned object_index) {
    char from[NAME_ROOM];
    char to[NAME_ROOM];
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!is_selected('d', object_index, (unsigned)i))
            continue;
        names_of(directory, &rows[i], from, to);
        if (rows[i].from)
            object_make_plain(from, rows[i].from, rows[i].from_owner);
        if (rows[i].to)
            object_make_plain(to, rows[i].to, rows[i].to_owner);
    }
}

/* What a default ACL made of a new file's. */
static void note_acl(const char *path) {
    ssize_t size = lgetxattr(path, "system.posix_acl_access", NULL, 0);
    if (size > 0)
        note(" acl %zd", size);
}

void names_run(const char *directory, unsigned object_index) {
    char from[NAME_ROOM];
    char to[NAME_ROOM];
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!is_selected('d', object_index, (unsigned)i))
            continue;
        names_of(directory, &rows[i], from, to);
        int result = rows[i].make(from, to, rows[i].argument);
        int saved_errno = errno;
        note_acl(to);
        errno = saved_errno;
        char name[NAME_ROOM];
        snprintf(name, sizeof(name), "%s/", rows[i].name);
        print_line(directory, name, result, to);
    }
}
