/* Probes: open(2) with its flags, files without a name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "posix_probe.h"

static void refusals(void) {
    probe_make("file", "some text");
    TRY(mkdir("directory", 0755));
    TRY(symlink("file", "link"));
    TRY(symlink("directory", "link to directory"));
    TRY(open("file", O_CREAT | O_EXCL | O_WRONLY, 0644));
    TRY(open("link", O_CREAT | O_EXCL | O_WRONLY, 0644));
    TRY(open("link", O_RDONLY | O_NOFOLLOW));
    TRY(open("link to directory", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    TRY(open("file", O_RDONLY | O_DIRECTORY));
    TRY(open("file/", O_RDONLY));
    TRY(open("file/below", O_RDONLY));
    TRY(open("missing", O_RDONLY));
    TRY(open("missing/file", O_CREAT | O_WRONLY, 0644));
    TRY(open("", O_RDONLY));
    TRY(open("directory", O_WRONLY));
    TRY(open("directory", O_CREAT | O_WRONLY, 0644));
    TRY(open("directory/", O_CREAT | O_WRONLY, 0644));
}

static void truncation(void) {
    probe_make("truncated", "to be lost");
    close(TRY_FD(open("truncated", O_RDONLY)));
    probe_stat("truncated");
    close(TRY_FD(open("truncated", O_WRONLY | O_TRUNC)));
    probe_stat("truncated");
    probe_make("truncated", "to be lost again");
    close(TRY_FD(open("truncated", O_RDWR | O_CREAT | O_TRUNC, 0600)));
    probe_stat("truncated");
    close(TRY_FD(open("created", O_WRONLY | O_CREAT | O_EXCL, 0640)));
    probe_stat("created");
    close(TRY_FD(open("no permission for me", O_RDWR | O_CREAT, 0000)));
    probe_stat("no permission for me");
    close(TRY_FD(open("every bit", O_RDWR | O_CREAT, 07777)));
    probe_stat("every bit");
}

static void two_appenders(void) {
    int a = TRY_FD(open("log", O_WRONLY | O_CREAT | O_APPEND, 0644));
    int b = TRY_FD(open("log", O_RDWR | O_APPEND));
    int plain = TRY_FD(open("log", O_RDWR));
    TRY(write(a, "one ", 4));
    TRY(write(b, "two ", 4));
    TRY(write(a, "three ", 6));
    TRY(pwrite(b, "four ", 5, 0)); /* Linux appends here too */
    TRY(write(plain, "ONE", 3));
    TRY(fcntl(plain, F_SETFL, O_APPEND));
    TRY(write(plain, "five ", 5));
    TRY(fcntl(a, F_SETFL, 0));
    TRY(pwrite(a, "TWO", 3, 4));
    TRY(lseek(b, 0, SEEK_CUR));
    close(a);
    close(b);
    close(plain);
    probe_content("log");
}

static void direct(void) {
    enum { BLOCK = 4096 };
    char *block = aligned_alloc(BLOCK, 2 * BLOCK);
    int fd = TRY_FD(open("direct", O_RDWR | O_CREAT | O_DIRECT, 0644));
    if (!block || fd < 0) {
        free(block);
        return;
    }
    memset(block, 'd', 2 * BLOCK);
    TRY(pwrite(fd, block, 2 * BLOCK, 0));
    TRY(pwrite(fd, block, BLOCK, 3L * BLOCK));
    TRY(pread(fd, block, BLOCK, 2L * BLOCK));
    probe_note("byte in the hole: %d", block[17]);
    TRY(pread(fd, block, 2 * BLOCK, 3L * BLOCK));
    TRY(pread(fd, block, BLOCK, 8L * BLOCK));
    close(fd);
    free(block);
    probe_content("direct");
}

static void wrong_use(void) {
    char byte = 'x';
    int reader = TRY_FD(open("file", O_RDONLY));
    int writer = TRY_FD(open("file", O_WRONLY));
    int path = TRY_FD(open("file", O_PATH));
    int directory = TRY_FD(open("directory", O_RDONLY | O_DIRECTORY));
    TRY(write(reader, &byte, 1));
    TRY(read(writer, &byte, 1));
    TRY(read(path, &byte, 1));
    TRY(fchmod(path, 0600));
    TRY(fstat(path, &(struct stat){0}));
    TRY(read(directory, &byte, 1));
    TRY(ftruncate(reader, 1));
    TRY(pread(reader, &byte, 1, -1));
    TRY(pread(reader, &byte, 1, 1L << 40));
    TRY(lseek(reader, -1, SEEK_SET));
    TRY(openat(directory, "../file", O_RDONLY) >= 0);
    TRY(openat(path, "below", O_RDONLY));
    close(reader);
    close(writer);
    close(path);
    close(directory);
    int link = TRY_FD(open("link", O_PATH | O_NOFOLLOW));
    probe_fstat(link);
    close(link);
}

void probe_open_flags(void) {
    refusals();
    truncation();
    two_appenders();
    direct();
    wrong_use();
}

static void unlinked_file(void) {
    int fd = TRY_FD(open("gone", O_RDWR | O_CREAT, 0644));
    TRY(write(fd, "still here", 10));
    TRY(unlink("gone"));
    probe_stat("gone");
    probe_fstat(fd);
    TRY(pwrite(fd, "STILL", 5, 0));
    TRY(ftruncate(fd, 7));
    TRY(fchmod(fd, 0604));
    TRY(fsync(fd));
    probe_fstat(fd);
    char text[16] = "";
    TRY(pread(fd, text, sizeof(text) - 1, 0));
    probe_note("read back: %s", text);
    probe_make("gone", "another file of that name");
    probe_fstat(fd);
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY);
    probe_note("opened once more: %s", again >= 0 ? "yes" : strerrorname_np(errno));
    close(again);
    close(fd);
    probe_content("gone");
}

static void replaced_file(void) {
    probe_make("old", "old contents");
    probe_make("new", "new");
    int fd = TRY_FD(open("old", O_RDONLY));
    TRY(rename("new", "old"));
    probe_fstat(fd);
    char text[16] = "";
    TRY(read(fd, text, sizeof(text) - 1));
    probe_note("read back: %s", text);
    close(fd);
    probe_content("old");
}

static void removed_directory(void) {
    TRY(mkdir("removed", 0755));
    int fd = TRY_FD(open("removed", O_RDONLY | O_DIRECTORY));
    TRY(rmdir("removed"));
    probe_fstat(fd);
    TRY(openat(fd, "file", O_CREAT | O_WRONLY, 0644));
    TRY(mkdirat(fd, "below", 0755));
    TRY(openat(fd, ".", O_RDONLY) >= 0);
    TRY(fchmod(fd, 0700));
    probe_fstat(fd);
    close(fd);
}

void probe_open_unlinked(void) {
    unlinked_file();
    replaced_file();
    removed_directory();
}

static void name_by_proc(int fd, const char *name) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    long result = linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    probe_note("%s: named: %s", name, result == 0 ? "yes" : strerrorname_np(errno));
}

static void named_later(void) {
    int fd = TRY_FD(open(".", O_TMPFILE | O_RDWR, 0640));
    probe_fstat(fd);
    TRY(write(fd, "nameless", 8));
    name_by_proc(fd, "named");
    name_by_proc(fd, "named");
    TRY(linkat(fd, "", AT_FDCWD, "named too", AT_EMPTY_PATH)); /* needs a privilege */
    probe_fstat(fd);
    TRY(write(fd, " no longer", 10));
    close(fd);
    probe_content("named");
    probe_stat("named");
}

static void never_named(void) {
    char text[16] = "";
    int fd = TRY_FD(open(".", O_TMPFILE | O_EXCL | O_RDWR, 0600));
    name_by_proc(fd, "exclusive");
    TRY(linkat(fd, "", AT_FDCWD, "exclusive", AT_EMPTY_PATH));
    TRY(pwrite(fd, "text", 4, 3));
    TRY(ftruncate(fd, 6));
    TRY(fchmod(fd, 0604));
    TRY(pread(fd, text, sizeof(text), 0));
    probe_note("read back: %s", text + 3);
    probe_fstat(fd);
    close(fd);
}

/* An unnamed file gets the mode and ACL that a new file in the directory gets. */
static void made_in(const char *directory, mode_t mask) {
    umask(mask);
    int fd = TRY_FD(open(directory, O_TMPFILE | O_WRONLY, 06666));
    umask(022);
    probe_note("in %s, umask %03o:", directory, (unsigned)mask);
    probe_fstat(fd);
    probe_note("access list: %zd bytes", fgetxattr(fd, "system.posix_acl_access", NULL, 0));
    close(fd);
}

void probe_tmpfile(void) {
    named_later();
    never_named();
    TRY(open(".", O_TMPFILE | O_RDONLY, 0600));
    TRY(open("named", O_TMPFILE | O_RDWR, 0600));
    TRY(open("missing", O_TMPFILE | O_RDWR, 0600));
    TRY(mkdir("closed", 0500));
    if (geteuid() != 0)
        TRY(open("closed", O_TMPFILE | O_RDWR, 0600));
    TRY(mkdir("set-gid", 0777));
    if (geteuid() == 0)
        TRY(chown("set-gid", 0, 7777));
    TRY(chmod("set-gid", 02777));
    TRY(mkdir("listed", 0777));
    probe_shell("setfacl -d -m u:12:rwx,g:13:rx,o:- listed 2>&1");
    static const char *const directories[] = {".", "set-gid", "listed"};
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        made_in(directories[i], 0);
        made_in(directories[i], 027);
    }
}
