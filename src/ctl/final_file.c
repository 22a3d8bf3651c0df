/* What a file in the way holds is read from its header: the mount, and when it began. A lock on the directory keeps
 * two processes from judging the same file at once. */
#include "final_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base.h"

#define BACKUP_SUFFIX ".old"
#define OTHER_NAMES_MAX 1000U
#define HEADER_BYTES 65536 /* more than the interesting lines can take */
#define LOCK_STEPS 100
#define LOCK_STEP_NS 20000000

/* ---- The existing file -------------------------------------------------------------------------- */

/* The line of a header that begins with key; NULL if there is none. */
static const char *find_line(const char *header, const char *key, size_t *ret_length) {
    const char *line = strstr(header, key);
    const char *end = line ? strchr(line + 1, '\n') : NULL;
    *ret_length = end ? (size_t)(end - line) : 0;
    return end ? line : NULL;
}

/* <0, 0, >0 as for strcmp(); a missing line comes first. */
static int compare_lines(const char *header, const char *other, const char *key) {
    size_t length, other_length;
    const char *line = find_line(header, key, &length);
    const char *other_line = find_line(other, key, &other_length);
    if (!line || !other_line)
        return (line != NULL) - (other_line != NULL);
    int order = memcmp(line, other_line, length < other_length ? length : other_length);
    return order != 0 ? order : (length > other_length) - (length < other_length);
}

enum content {
    CONTENT_NONE, /* there is no such file */
    CONTENT_OWN,  /* a profile of the same mount that began no later */
    CONTENT_NO_PROFILE,
    CONTENT_OTHER, /* it must stay: another profile, or a file that cannot be read */
};

/* If it is no regular file, replace_file() refuses it later. */
static enum content look(int dir_fd, const char *name, const struct control_text *text) {
    static const char beginning[] = "# osprof ";
    struct stat attr;
    CLEANUP_FREE char *header = calloc(1, HEADER_BYTES + 1);
    if (fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) < 0)
        return CONTENT_NONE;
    if (!S_ISREG(attr.st_mode))
        return CONTENT_NO_PROFILE;
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    ssize_t length = fd >= 0 && header ? read(fd, header, HEADER_BYTES) : -1;
    if (length < 0)
        return CONTENT_OTHER;
    if (strncmp(header, beginning, strlen(beginning)) != 0)
        return CONTENT_NO_PROFILE;
    /* Starting times have a form that sorts by time. */
    bool is_own =
        compare_lines(header, text->text, "\n# mount: ") == 0 && compare_lines(header, text->text, "\n# start: ") <= 0;
    return is_own ? CONTENT_OWN : CONTENT_OTHER;
}

/* ---- Saving ------------------------------------------------------------------------------------- */

struct final_file {
    int dir_fd;
    bool keeps_old;
    mode_t mode;
    const struct control_text *text;
};

/* A file that is no profile may be replaced if the user has named it.
 * Errors:  -EEXIST the file must stay */
static int save_as(const struct final_file *file, const char *name, bool is_given) {
    CLEANUP_FREE char *backup_name = NULL;
    enum content content = look(file->dir_fd, name, file->text);
    if (content == CONTENT_OTHER || (content == CONTENT_NO_PROFILE && !is_given))
        return -EEXIST;
    if (file->keeps_old && asprintf(&backup_name, "%s" BACKUP_SUFFIX, name) < 0)
        return -ENOMEM;
    if (backup_name && content != CONTENT_NONE && look(file->dir_fd, backup_name, file->text) == CONTENT_OTHER)
        return -EEXIST;
    return replace_file(file->dir_fd, name, backup_name, file->mode, file->text->text, file->text->size_bytes);
}

static int save_beside(const struct final_file *file, const char *name, char **ret_other_name) {
    int err = -EEXIST;
    for (unsigned number = 1; err == -EEXIST && number <= OTHER_NAMES_MAX; number++) {
        CLEANUP_FREE char *other = NULL;
        err = asprintf(&other, "%s.%u", name, number) < 0 ? -ENOMEM : save_as(file, other, false);
        if (err == 0)
            *ret_other_name = steal_pointer(&other);
    }
    return err;
}

/* Waits two seconds at most for others that have locked the directory: a file system may not support such locks. */
int final_file_save(int dir_fd, const char *name, bool keeps_old, mode_t mode, const struct control_text *text,
                    char **ret_other_name) {
    const struct final_file file = {.dir_fd = dir_fd, .keeps_old = keeps_old, .mode = mode, .text = text};
    const struct timespec step = {.tv_nsec = LOCK_STEP_NS};
    CLEANUP_FD int lock_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < LOCK_STEPS && lock_fd >= 0 && flock(lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
         i++)
        nanosleep(&step, NULL);
    int err = save_as(&file, name, true);
    *ret_other_name = NULL;
    return err == -EEXIST ? save_beside(&file, name, ret_other_name) : err;
}
