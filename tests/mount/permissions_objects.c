/* What calls are tried on. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "permissions.h"

static const struct {
    const char *name;
    uid_t uid;
    gid_t gid;
} owners[OWNERS] = {
    [ROOT] = {"root", ID_ROOT, ID_ROOT},
    [OTHER] = {"other", ID_OTHER, ID_OTHER},
    [OTHER_GROUP] = {"other:group", ID_OTHER, ID_GROUP},
    [ME] = {"me", ID_ME, ID_ME},
    [ME_GROUP] = {"me:group", ID_ME, ID_GROUP},
};

#define SHOWN .brief = true

const struct object objects[] = {
    {'f', 0000, ME},
    {'f', 0000, OTHER, SHOWN},
    {'f', 0400, ME},
    {'f', 0200, ME},
    {'f', 0200, OTHER_GROUP},
    {'f', 0100, ME},
    {'f', 0111, OTHER},
    {'f', 0711, ROOT},
    {'f', 0711, ME},
    {'f', 0440, OTHER_GROUP},
    {'f', 0640, ROOT},
    {'f', 0640, OTHER_GROUP},
    {'f', 0660, OTHER_GROUP},
    {'f', 0666, ROOT, SHOWN},
    {'f', 0666, OTHER},
    {'f', 0666, ME},
    {'f', 0644, ME_GROUP},
    {'f', 04755, ROOT},
    {'f', 04755, ME, SHOWN},
    {'f', 02755, OTHER_GROUP},
    {'f', 02755, ME},
    {'f', 02755, ME_GROUP},
    {'f', 02745, ME_GROUP},
    {'f', 02745, ME},
    {'f', 02766, ME_GROUP},
    {'f', 02766, OTHER_GROUP, SHOWN},
    {'f', 02766, ROOT},
    {'f', 06777, ROOT, SHOWN},
    {'f', 06777, OTHER_GROUP},
    {'f', 06777, ME},
    {'f', 01644, ME},
    {'f', 01666, OTHER},
    {'f', 0600, ROOT, "-acl-me-rw", ACL_ME_RW},
    {'f', 0666, ROOT, "-acl-me-nothing", ACL_ME_NOTHING},
    {'f', 0640, OTHER, "-acl-group-rw", ACL_GROUP_RW},
    {'f', 0600, OTHER, "-acl-masked", ACL_MASKED},
    {'f', 0666, ME, "-acl-own", ACL_ME_NOTHING},
    {'f', 0777, ROOT, "-capability", .extras = EXTRA_CAPABILITY, SHOWN},
    {'f', 0777, ME, "-capability", .extras = EXTRA_CAPABILITY},
    {'f', 0644, ME, "-xattrs", .extras = EXTRA_XATTRS},
    {'f', 0666, OTHER, "-xattrs", .extras = EXTRA_XATTRS},
    {'f', 0666, ME, "-append", .extras = EXTRA_APPEND},
    {'f', 0666, ROOT, "-append", .extras = EXTRA_APPEND},
    {'f', 0666, ME, "-immutable", .extras = EXTRA_IMMUTABLE},
    {'f', 0644, ME, "-linked", .extras = EXTRA_SECOND_NAME},
    {'x', 0755, ROOT, SHOWN},
    {'x', 0711, ROOT, SHOWN},
    {'x', 0711, ME},
    {'x', 0100, ME},
    {'x', 0010, OTHER_GROUP},
    {'x', 0644, ROOT, SHOWN},
    {'x', 04755, ROOT, SHOWN},
    {'x', 04711, OTHER},
    {'x', 02755, OTHER_GROUP, SHOWN},
    {'x', 02745, OTHER_GROUP},
    {'x', 06755, OTHER_GROUP},
    {'x', 04750, OTHER_GROUP},
    {'x', 0755, ROOT, "-capability", .extras = EXTRA_CAPABILITY, SHOWN},
    {'x', 0700, OTHER, "-acl-me-rwx", ACL_ME_RWX},
    {'#', 0755, ROOT, SHOWN},
    {'#', 0711, OTHER},
    {'#', 04755, OTHER},
    {'#', 0644, ME},
    {'d', 0755, ROOT, SHOWN},
    {'d', 0755, ME, SHOWN},
    {'d', 0700, ROOT},
    {'d', 0700, ME},
    {'d', 0711, OTHER},
    {'d', 0711, ME},
    {'d', 0733, OTHER},
    {'d', 0744, OTHER},
    {'d', 0770, OTHER_GROUP},
    {'d', 01777, ROOT, SHOWN},
    {'d', 01777, OTHER},
    {'d', 01777, ME},
    {'d', 01770, OTHER_GROUP},
    {'d', 02775, OTHER_GROUP},
    {'d', 02777, ROOT},
    {'d', 02777, ME_GROUP, SHOWN},
    {'d', 0777, ROOT, "-default-acl", ACL_DEFAULT},
    {'d', 02777, OTHER_GROUP, "-default-acl", ACL_DEFAULT},
    {'d', 0700, OTHER, "-acl-me-rwx", ACL_ME_RWX},
    {'d', 0777, OTHER, "-acl-me-nothing", ACL_ME_NOTHING},
    {'d', 0777, ME, "-append", .extras = EXTRA_APPEND},
    {'d', 0777, ME, "-immutable", .extras = EXTRA_IMMUTABLE},
    {'p', 0666, ROOT},
    {'p', 0600, OTHER, SHOWN},
    {'p', 0620, OTHER_GROUP},
    {'p', 0644, ME},
    {'s', 0777, ROOT},
    {'s', 0755, OTHER},
    {'s', 0700, ROOT, SHOWN},
    {'s', 0770, OTHER_GROUP},
    {'c', 0666, ROOT, "-null", .device = 3, SHOWN},
    {'c', 0666, ROOT, "-zero", .device = 5, SHOWN},
    {'c', 0600, ROOT, "-zero", .device = 5},
    {'c', 0600, ME, "-null", .device = 3},
    {'c', 0640, OTHER_GROUP, "-zero", .device = 5},
    {'l', 0777, ROOT, "-to-file", .target = "target"},
    {'l', 0777, ME, "-to-file", .target = "target"},
    {'l', 0777, OTHER, "-to-locked", .target = "locked/inside", SHOWN},
    {'l', 0777, ME, "-dangling", .target = "elsewhere/nothing"},
    {'l', 0777, ME, "-dangling-locked", .target = "locked/nothing"},
    {'l', 0777, ME, "-to-directory", .target = "locked"},
};
const size_t object_count = ARRAY_SIZE(objects);

void object_name(const struct object *object, char *ret_name, size_t size) {
    static const char *const kinds[] = {
        ['f'] = "file", ['x'] = "program", ['#'] = "script", ['d'] = "directory",
        ['p'] = "fifo", ['s'] = "socket",  ['c'] = "device", ['l'] = "link",
    };
    snprintf(ret_name, size, "%s-%04o-%s%s", kinds[(unsigned char)object->kind], object->mode,
             owners[object->owner].name, object->suffix ? object->suffix : "");
}

/* ---- ACLs and capabilities ---- */

struct acl_entry {
    uint16_t tag;
    uint16_t permissions;
    uint32_t id;
};

enum { OF_OWNER = 1, USER = 2, OF_GROUP = 4, GROUP = 8, MASK = 16, OTHERS = 32 };
#define NO_ID UINT32_MAX

static const struct acl_entry acls[ACLS][6] = {
    [ACL_ME_RW] = {{OF_OWNER, 6, NO_ID}, {USER, 6, ID_ME}, {OF_GROUP, 0, NO_ID}, {MASK, 6, NO_ID}, {OTHERS, 0, NO_ID}},
    [ACL_ME_NOTHING] =
        {{OF_OWNER, 7, NO_ID}, {USER, 0, ID_ME}, {OF_GROUP, 7, NO_ID}, {MASK, 7, NO_ID}, {OTHERS, 7, NO_ID}},
    [ACL_GROUP_RW] =
        {{OF_OWNER, 6, NO_ID}, {OF_GROUP, 4, NO_ID}, {GROUP, 6, ID_GROUP}, {MASK, 6, NO_ID}, {OTHERS, 0, NO_ID}},
    [ACL_MASKED] = {{OF_OWNER, 6, NO_ID},
                    {USER, 7, ID_ME},
                    {OF_GROUP, 0, NO_ID},
                    {GROUP, 7, ID_GROUP},
                    {MASK, 4, NO_ID},
                    {OTHERS, 0, NO_ID}},
    [ACL_ME_RWX] = {{OF_OWNER, 7, NO_ID}, {USER, 7, ID_ME}, {OF_GROUP, 0, NO_ID}, {MASK, 7, NO_ID}, {OTHERS, 0, NO_ID}},
    [ACL_DEFAULT] = {{OF_OWNER, 7, NO_ID},
                     {USER, 7, ID_ME},
                     {OF_GROUP, 5, NO_ID},
                     {GROUP, 7, ID_GROUP},
                     {MASK, 7, NO_ID},
                     {OTHERS, 0, NO_ID}},
};

size_t acl_encode(enum acl acl, void *ret_bytes) {
    const uint32_t version = 2;
    size_t count = 0;
    while (count < ARRAY_SIZE(acls[acl]) && acls[acl][count].tag)
        count++;
    memcpy(ret_bytes, &version, sizeof(version));
    memcpy((char *)ret_bytes + sizeof(version), acls[acl], count * sizeof(struct acl_entry));
    return sizeof(version) + count * sizeof(struct acl_entry);
}

/* Revision 2, effective, cap_net_raw permitted. */
const unsigned char capability_value[20] = {1, 0, 0, 2, 0, 1U << (CAP_NET_RAW - 8)};

/* ---- Making them ---- */

static void set_value(const char *path, const char *name, const void *value, size_t size) {
    must(lsetxattr(path, name, value, size, 0) == 0 || errno == EOPNOTSUPP || errno == ENOSYS, "set an attribute of",
         path);
}

static void set_acl(const struct object *object, const char *path) {
    char bytes[ACL_ROOM_BYTES];
    size_t size = acl_encode(object->acl, bytes);
    set_value(path, object->acl == ACL_DEFAULT ? "system.posix_acl_default" : "system.posix_acl_access", bytes, size);
}

static void set_flags(const char *path, int flags) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0, "open", path);
    int set = ioctl(fd, FS_IOC_SETFLAGS, &flags);
    must(set == 0 || errno == EOPNOTSUPP || errno == ENOTTY, "set flags of", path);
    close(fd);
}

static void add_extras(const struct object *object, const char *path) {
    if (object->acl)
        set_acl(object, path);
    if (object->extras & EXTRA_CAPABILITY)
        set_value(path, "security.capability", capability_value, sizeof(capability_value));
    if (object->extras & EXTRA_XATTRS) {
        set_value(path, "user.old", "value", 5);
        set_value(path, "trusted.old", "value", 5);
    }
    if (object->extras & EXTRA_SECOND_NAME) {
        char second[256];
        snprintf(second, sizeof(second), "%s second", path);
        must(link(path, second) == 0, "link", path);
    }
}

static void make_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "make", path);
    close(fd);
}

/* A copy of this program. */
static void make_program(const char *path) {
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must(from >= 0 && to >= 0, "make", path);
    ssize_t copied;
    while ((copied = sendfile(to, from, NULL, 1 << 20)) > 0)
        ;
    must(copied == 0, "copy this program to", path);
    close(from);
    close(to);
}

static void make_special(const struct object *object, const char *path) {
    mode_t type = object->kind == 'p' ? S_IFIFO : object->kind == 's' ? S_IFSOCK : S_IFCHR;
    must(mknod(path, type | 0600, makedev(1, object->device)) == 0, "make", path);
}

static void make_bare(const struct object *object, const char *path) {
    switch (object->kind) {
    case 'f':
        make_file(path, "text");
        break;
    case '#':
        make_file(path, "#!/bin/cat\n");
        break;
    case 'x':
        make_program(path);
        break;
    case 'd':
        must(mkdir(path, 0700) == 0, "make", path);
        break;
    case 'l':
        must(object->target && symlink(object->target, path) == 0, "make", path);
        break;
    default:
        make_special(object, path);
    }
}

void object_make(const struct object *object, const char *path) {
    make_bare(object, path);
    must(lchown(path, owners[object->owner].uid, owners[object->owner].gid) == 0, "give away", path);
    must(object->kind == 'l' || chmod(path, object->mode) == 0, "set the mode of", path);
    add_extras(object, path);
}

void object_seal(const struct object *object, const char *path) {
    if (object->extras & EXTRA_APPEND)
        set_flags(path, FS_APPEND_FL);
    if (object->extras & EXTRA_IMMUTABLE)
        set_flags(path, FS_IMMUTABLE_FL);
}

void object_make_plain(const char *path, char kind, enum owner owner) {
    object_make(&(struct object){.kind = kind, .mode = kind == 'd' ? 0755 : 0644, .owner = owner}, path);
}
