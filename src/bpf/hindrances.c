/* What about a machine keeps programs from being loaded into the kernel, whatever they are. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "collector.h"

#define FIRST_USER_NAMESPACE 0xEFFFFFFDU /* its inode: PROC_USER_INIT_INO of the kernel */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU  /* the same: PROC_PID_INIT_INO */

/* Root in another user namespace has all capabilities there, but they do not allow loading BPF programs. */
bool collector_is_in_user_namespace(void) {
    struct stat attr;
    return stat("/proc/self/ns/user", &attr) == 0 && attr.st_ino != FIRST_USER_NAMESPACE;
}

bool collector_has_process_numbers(void) {
    struct stat attr;
    return stat("/proc/self/ns/pid", &attr) < 0 || attr.st_ino == FIRST_PID_NAMESPACE;
}

/* The state in force is in brackets. */
bool collector_is_locked_down(void) {
    char text[80] = "";
    return read_beginning(AT_FDCWD, COLLECTOR_LOCKDOWN, text, sizeof(text)) && strstr(text, "[confidentiality]");
}
