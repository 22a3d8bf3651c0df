/* Paths as text, and those of open files. */
#include "path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

char *path_join(const char *dir, const char *name) {
    char *joined = NULL;
    const char *slash = dir[0] == '/' && dir[1] == '\0' ? "" : "/";
    return asprintf(&joined, "%s%s%s", dir, slash, name) < 0 ? NULL : joined;
}

char *path_beside_program(const char *name) {
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return path_join(self, name);
}

const char *path_below(const char *path, const char *root) {
    size_t length = strlen(root);
    while (length > 0 && root[length - 1] == '/')
        length--;
    bool is_below = strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
    return is_below ? path + length : NULL;
}

int path_of_open(int fd, char ret_path[PATH_MAX]) {
    char link[32];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, ret_path, PATH_MAX);
    if (length < 0)
        return negative_errno();
    if (length == PATH_MAX)
        return -ENAMETOOLONG;
    ret_path[length] = '\0';
    return 0;
}

void path_copy_end(const char *path, char *ret_copy, size_t size_bytes) {
    size_t length = strlen(path);
    bool is_cut = length >= size_bytes;
    size_t left_out = is_cut ? length - (size_bytes - 1) + 3 : 0;
    snprintf(ret_copy, size_bytes, "%s%s", is_cut ? "..." : "", path + left_out);
}

char *path_normalise(const char *path) {
    CLEANUP_FREE char *current_dir = path[0] == '/' ? NULL : getcwd(NULL, 0);
    CLEANUP_FREE char *absolute = path[0] == '/' ? strdup(path) : current_dir ? path_join(current_dir, path) : NULL;
    char *normal = absolute ? malloc(strlen(absolute) + 2) : NULL;
    if (!normal)
        return NULL;
    size_t length = 0;
    char *rest = absolute;
    for (char *part = strsep(&rest, "/"); part; part = strsep(&rest, "/")) {
        if (strcmp(part, "") == 0 || strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) { /* the root is the empty text */
            while (length > 0 && normal[--length] != '/')
                ;
            continue;
        }
        normal[length++] = '/';
        size_t part_length = strlen(part);
        memcpy(normal + length, part, part_length);
        length += part_length;
    }
    if (length == 0)
        normal[length++] = '/';
    normal[length] = '\0';
    return normal;
}
