/* Which errors are counted separately: one row each, by number. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "aggstats.h"
#include "aggstats/lane.h"
#include "base.h"

/* clang-format off */
#define FAILURES(ROW)                                                                                                  \
    ROW(EPERM) ROW(ENOENT) ROW(EINTR) ROW(EIO) ROW(ENXIO) ROW(E2BIG) ROW(EBADF) ROW(EAGAIN) ROW(ENOMEM) ROW(EACCES)    \
    ROW(EBUSY) ROW(EEXIST) ROW(EXDEV) ROW(ENODEV) ROW(ENOTDIR) ROW(EISDIR) ROW(EINVAL) ROW(ENFILE) ROW(EMFILE)         \
    ROW(ENOTTY) ROW(ETXTBSY) ROW(EFBIG) ROW(ENOSPC) ROW(ESPIPE) ROW(EROFS) ROW(EMLINK) ROW(ERANGE) ROW(EDEADLK)        \
    ROW(ENAMETOOLONG) ROW(ENOLCK) ROW(ENOSYS) ROW(ENOTEMPTY) ROW(ELOOP) ROW(ENODATA) ROW(EBADMSG) ROW(EOVERFLOW)       \
    ROW(EOPNOTSUPP) ROW(ENOTCONN) ROW(ETIMEDOUT) ROW(ESTALE) ROW(EUCLEAN) ROW(EDQUOT) ROW(ENOKEY)
/* clang-format on */

enum {
#define NUMBER(ERROR) FAILURE_##ERROR,
    FAILURES(NUMBER)
#undef NUMBER
        FAILURE_OTHER,
    FAILURE_COUNT,
};

static_assert(FAILURE_COUNT == AGGSTATS_FAILURES, "there is a counter for each");

static const char *const names[AGGSTATS_FAILURES] = {
#define NAME(ERROR) [FAILURE_##ERROR] = #ERROR,
    FAILURES(NAME)
#undef NAME
        [FAILURE_OTHER] = "other",
};

/* 0: not separately; else one more than the kind. */
static const unsigned char kinds[] = {
#define KIND(ERROR) [ERROR] = FAILURE_##ERROR + 1,
    FAILURES(KIND)
#undef KIND
};

unsigned aggstats_failure_of_error(int error) {
    bool is_known = error > 0 && (size_t)error < ARRAY_SIZE(kinds) && kinds[error] > 0;
    return is_known ? kinds[error] - 1U : FAILURE_OTHER;
}

const char *aggstats_failure_name(unsigned failure) {
    return failure < AGGSTATS_FAILURES ? names[failure] : NULL;
}

int aggstats_failure_of_name(const char *name) {
    const size_t failure = word_index(names, AGGSTATS_FAILURES, name);
    return failure < AGGSTATS_FAILURES ? (int)failure : -1;
}

void aggstats_count_failure(struct aggstats_counters *counters, unsigned resolution, int error) {
    aggstats_add(&aggstats_beside(counters, resolution)[AGGSTATS_FAILED + aggstats_failure_of_error(error)], 1);
}
