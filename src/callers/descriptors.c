/* Descriptors of other processes: links in /proc/N/fd, and fdinfo. */
#include "descriptors.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "dir.h"

/* ---- fdinfo ---- */

const char *descriptor_info_find(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1;
    return NULL;
}

static bool find_number(const char *text, const char *name, int base, uint64_t *ret_number) {
    const char *value = descriptor_info_find(text, name);
    char *end = NULL;
    if (!value)
        return false;
    uint64_t number = strtoull(value, &end, base);
    if (end == value || (*end != '\n' && *end != '\0'))
        return false;
    *ret_number = number;
    return true;
}

void descriptor_info_parse(const char *text, struct descriptor_info *ret_info) {
    uint64_t flags = 0;
    *ret_info = (struct descriptor_info){.has_access = false};
    ret_info->has_access = find_number(text, "flags", 8, &flags);
    ret_info->access = (int)(flags & O_ACCMODE);
    ret_info->has_mount = find_number(text, "mnt_id", 10, &ret_info->mount);
    ret_info->has_inode = find_number(text, "ino", 10, &ret_info->inode);
    ret_info->has_connection = find_number(text, "fuse_connection", 10, &ret_info->connection);
}

/* ---- One ---- */

bool descriptor_read_text(uint64_t process, uint64_t fd, char ret_text[DESCRIPTORS_INFO_SIZE]) {
    char path[80];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/fdinfo/%" PRIu64, process, fd);
    return read_beginning(AT_FDCWD, path, ret_text, DESCRIPTORS_INFO_SIZE);
}

bool descriptor_read_info(uint64_t process, uint64_t fd, struct descriptor_info *ret_info) {
    char text[DESCRIPTORS_INFO_SIZE];
    if (fd > INT_MAX || !descriptor_read_text(process, fd, text))
        return false;
    descriptor_info_parse(text, ret_info);
    return true;
}

static bool read_link_at(int dir_fd, const char *path, char ret_link[PATH_MAX]) {
    ssize_t length = readlinkat(dir_fd, path, ret_link, PATH_MAX - 1);
    ret_link[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool descriptor_read_link(uint64_t thread, uint64_t fd, char ret_link[PATH_MAX]) {
    char path[80];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/fd/%" PRIu64, thread, fd);
    return read_link_at(AT_FDCWD, path, ret_link);
}

/* ---- Many ---- */

/* A number as the name of a directory's entry; false: it is another name. */
static bool parse_name(const char *name, uint64_t *ret_number) {
    char *end = NULL;
    *ret_number = strtoull(name, &end, 10);
    return name[0] >= '0' && name[0] <= '9' && *end == '\0';
}

static enum descriptors_seen look_at_process(uint64_t process, descriptor_fn look, void *context, size_t *left) {
    char path[48];
    char link[PATH_MAX];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/fd", process);
    CLEANUP_DIR DIR *directory = opendir(path);
    if (!directory)
        return DESCRIPTORS_HIDDEN;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct descriptor descriptor = {.process = process, .link = link};
        if (!parse_name(entry->d_name, &descriptor.fd) || !read_link_at(dirfd(directory), entry->d_name, link))
            continue;
        if (*left == 0 || !look(context, &descriptor))
            return DESCRIPTORS_SOME;
        --*left;
    }
    return DESCRIPTORS_ALL;
}

enum descriptors_seen descriptors_of(uint64_t process, descriptor_fn look, void *context) {
    size_t left = DESCRIPTORS_MAX;
    return look_at_process(process, look, context, &left);
}

void descriptors_of_all(descriptor_fn look, void *context) {
    size_t left = DESCRIPTORS_MAX;
    uint64_t process;
    CLEANUP_DIR DIR *directory = opendir("/proc");
    for (const struct dirent *entry; directory && (entry = readdir(directory)) != NULL;)
        if (parse_name(entry->d_name, &process) && look_at_process(process, look, context, &left) == DESCRIPTORS_SOME)
            return;
}
