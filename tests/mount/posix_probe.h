/* The same file operations in any directory, with a line of text for each result: run below and above a mount, the
 * outputs must be equal. So nothing printed may depend on place or time (no inode or device numbers; of times only
 * whether they changed). */
#ifndef POSIX_PROBE_H
#define POSIX_PROBE_H

#include <stddef.h>
#include <sys/types.h>

/* Does the call and prints its text with its result, or its errno's name. The value is the call's. */
#define TRY(call) probe_result(#call, (long)(call))

/* The same for calls that give a descriptor, whose number says nothing. */
#define TRY_FD(call) probe_opened(#call, (call))

long probe_result(const char *call, long result);
int probe_opened(const char *call, int fd);

/* Prints one free line. */
__attribute__((format(printf, 1, 2))) void probe_note(const char *format, ...);

/* Prints type, mode, links, owner, size and device of a path or a descriptor. */
void probe_stat(const char *path);
void probe_fstat(int fd);

/* Prints size, checksum and beginning of a file's contents. */
void probe_content(const char *path);

/* Makes (or replaces) a file with this text. Ends the probe if that fails: later lines would mean nothing. */
void probe_make(const char *path, const char *text);

/* Writes size bytes of a repeating, position-dependent pattern at offset; returns bytes written or -1. */
ssize_t probe_fill(int fd, off_t offset, size_t size);

/* Runs a command that prints its own output, such as setfacl and getfacl. */
void probe_shell(const char *command);

/* A topic of a probe. Each program has a table; the last row has no name. */
struct probe_topic {
    const char *name;
    void (*run)(void);
};
extern const struct probe_topic probe_topics[];

/* The topics of posix_probe, in other files. */
void probe_open_flags(void);
void probe_open_unlinked(void);
void probe_tmpfile(void);
void probe_rename(void);
void probe_link(void);
void probe_symlink(void);
void probe_mknod(void);
void probe_long_names(void);
void probe_truncate(void);
void probe_fallocate(void);
void probe_fallocate_shift(void);
void probe_seek(void);
void probe_copy(void);
void probe_mmap_private(void);
void probe_mmap_shared(void);
void probe_mmap_attributes(void);
void probe_modes(void);
void probe_owner(void);
void probe_set_id(void);
void probe_set_id_open(void);
void probe_utimens(void);
void probe_times(void);
void probe_xattr(void);
void probe_acl(void);
void probe_readdir(void);
void probe_seekdir(void);
void probe_statfs(void);
void probe_inode_flags(void);
void probe_record_locks(void);
void probe_lock_holder(void);
void probe_ofd_locks(void);
void probe_flock(void);

#endif
