/* Only devices without a disk (major number 0) can be pseudo file systems. For some devices the variable says whether
 * they count: if asking the kernel would cause a request to a server, or if the kernel's answer would be ambiguous. For
 * the other devices a small table remembers the kernel's answers. In the table a device may replace another device. */
#include "scope.h"

#include <linux/magic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "own_call.h"
#include "pseudo_filesystems.h"

#define DIRECTORIES_MAX 16
#define DEVICES_MAX 64 /* no more are passed */
#define SEPARATOR "//"

struct scope scope;

static const char *directories[DIRECTORIES_MAX];
static size_t directory_count;
static size_t directory_bytes_max;

/* ---- The variable ---- */

static struct {
    uint32_t minor;
    bool counts;
} devices[DEVICES_MAX];
static size_t device_count;

static char *parse_letters(char *text) {
    for (char letter = *text; letter != '/'; letter = *text) {
        uint32_t minor = 0;
        text++;
        if (letter == 'a')
            scope.has_all = true;
        else if (letter == 'e')
            scope.has_everything = true;
        else if (letter != 'd' && letter != 'p')
            return NULL;
        if (letter != 'd' && letter != 'p')
            continue;
        for (; *text >= '0' && *text <= '9'; text++)
            minor = 10 * minor + (uint32_t)(*text - '0');
        if (device_count < DEVICES_MAX) {
            devices[device_count].minor = minor;
            devices[device_count++].counts = letter == 'd';
        }
    }
    return text;
}

/* The second slash of a separator begins the next path. */
static bool cut_directories(char *path) {
    for (char *end = strstr(path, SEPARATOR); end; end = strstr(path, SEPARATOR)) {
        if (directory_count == DIRECTORIES_MAX)
            return false;
        *end = '\0';
        path = end + 1;
        directories[directory_count++] = path;
        if (strlen(path) > directory_bytes_max)
            directory_bytes_max = strlen(path);
    }
    return true;
}

char *scope_parse(char *text) {
    char *live_path = parse_letters(text);
    return live_path && cut_directories(live_path) && (directory_count > 0) != scope.has_all ? live_path : NULL;
}

/* ---- Names ---- */

static bool is_below(const char *directory, const char *base, const char *path) {
    return below_place_of(directory, base, path) == BELOW_INSIDE;
}

static bool is_pseudo(const char *base, const char *path) {
    return (path[0] != '/' || scope_may_be_pseudo(path)) &&
           (is_below("/proc", base, path) || is_below("/sys", base, path) ||
            (is_below("/dev", base, path) && !is_below("/dev/shm", base, path)));
}

enum below_place scope_place_of(const char *base, const char *path) {
    if (scope.has_all)
        return !scope.has_everything && is_pseudo(base, path) ? BELOW_OUTSIDE : BELOW_INSIDE;
    enum below_place place = BELOW_OUTSIDE;
    for (size_t i = 0; i < directory_count && place != BELOW_INSIDE; i++) {
        enum below_place seen = below_place_of(directories[i], base, path);
        if (seen > place)
            place = seen;
    }
    return place;
}

enum below_place scope_place_below(const char *directory) {
    const bool is_mixed = strcmp(directory, "/") == 0 || strcmp(directory, "/dev") == 0;
    return scope.has_all && is_mixed ? BELOW_ABOVE : scope_place_of(directory, "");
}

size_t scope_prefix_bytes(void) {
    return directory_bytes_max + 2;
}

/* ---- Descriptors ---- */

bool scope_has_kind(unsigned mode) {
    return scope.has_everything || S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

#define MAGIC_ELEMENT(MAGIC, NAME) MAGIC,
static const uint32_t pseudo_types[] = {PSEUDO_FILESYSTEMS(MAGIC_ELEMENT) HUGETLBFS_MAGIC};

static bool ask_device(int fd, uint32_t minor) {
    struct statfs attributes;
    for (size_t i = 0; i < device_count; i++)
        if (devices[i].minor == minor)
            return devices[i].counts;
    if (own_call(SYS_fstatfs, fd, &attributes) != 0)
        return true;
    for (size_t i = 0; i < sizeof(pseudo_types) / sizeof(pseudo_types[0]); i++)
        if (pseudo_types[i] == (uint32_t)attributes.f_type)
            return false;
    return true;
}

#define DEVICES_KNOWN 32U

/* Minor numbers, each plus IS_KNOWN and, if it counts, COUNTS. */
static uint64_t known[DEVICES_KNOWN]; /* atomic */
#define IS_KNOWN (UINT64_C(1) << 32)
#define COUNTS (UINT64_C(1) << 33)

bool scope_has_device(int fd, const struct statx *attributes) {
    if (scope.has_everything || attributes->stx_dev_major != 0)
        return true;
    uint64_t *place = &known[attributes->stx_dev_minor % DEVICES_KNOWN];
    uint64_t device = __atomic_load_n(place, __ATOMIC_RELAXED);
    if ((device & ~COUNTS) != (attributes->stx_dev_minor | IS_KNOWN)) {
        device = attributes->stx_dev_minor | IS_KNOWN | (ask_device(fd, attributes->stx_dev_minor) ? COUNTS : 0);
        __atomic_store_n(place, device, __ATOMIC_RELAXED);
    }
    return device & COUNTS;
}
