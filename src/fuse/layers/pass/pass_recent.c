/* Descriptors of inodes that were used just now.
 *
 * Opening an inode by its handle and closing it again costs 2 us, more than most of what is done in between. So each
 * thread leaves its latest descriptor in a place of its own (where descriptors are few, several threads share one), and
 * its next op takes it if it is for the same inode. The descriptor must not stay: it would keep a file that is removed
 * below, and its mount. So after a second, or when a name is removed through the mount, all are closed. */
#include "pass_private.h"

/* A descriptor and its inode, in one word, so that one atomic exchange takes both, and a descriptor always has exactly
 * one owner. 0: none. */
static uint64_t pack(const struct inode *inode, int fd) {
    return (uint64_t)inode->slot << 32 | (uint64_t)(inode->generation & UINT16_MAX) << 16 |
           (uint64_t)(uint16_t)(fd + 1);
}

static int unpack_fd(uint64_t packed) {
    return (int)(packed & UINT16_MAX) - 1;
}

static struct recent *recent_of_this_thread(struct pass *pass) {
    static unsigned threads; /* atomic */
    static _Thread_local unsigned number;
    if (number == 0)
        number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return &pass->recent[number % pass->recent_max];
}

static void close_recent(struct recent *recent) {
    int fd = unpack_fd(__atomic_exchange_n(&recent->packed, 0, __ATOMIC_SEQ_CST));
    close_fd(&fd);
}

void pass_close_recent(struct pass *pass) {
    if (!__atomic_exchange_n(&pass->has_recent, false, __ATOMIC_SEQ_CST))
        return;
    for (size_t index = 0; index < PASS_RECENT; index++) {
        if (__atomic_load_n(&pass->recent[index].packed, __ATOMIC_SEQ_CST)) /* a thread that keeps one from now on has
                                                                             * seen has_recent */
            close_recent(&pass->recent[index]);
    }
}

int pass_take_recent(struct pass *pass, const struct inode *inode) {
    struct recent *recent = recent_of_this_thread(pass);
    uint64_t packed = __atomic_load_n(&recent->packed, __ATOMIC_RELAXED);
    if (packed == 0 || pack(inode, unpack_fd(packed)) != packed ||
        !__atomic_compare_exchange_n(&recent->packed, &packed, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return -1;
    return unpack_fd(packed);
}

void pass_keep_recent(struct pass *pass, const struct inode *inode, int fd) {
    if (!pass->call_later || fd >= UINT16_MAX - 1) {
        close(fd);
        return;
    }
    struct recent *recent = recent_of_this_thread(pass);
    int earlier_fd = unpack_fd(__atomic_exchange_n(&recent->packed, pack(inode, fd), __ATOMIC_SEQ_CST));
    close_fd(&earlier_fd);
    if (__atomic_load_n(&pass->has_recent, __ATOMIC_SEQ_CST) ||
        __atomic_exchange_n(&pass->has_recent, true, __ATOMIC_SEQ_CST))
        return;
    if (!pass_do_later(pass))
        pass_close_recent(pass);
}
