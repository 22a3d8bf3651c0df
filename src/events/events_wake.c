/* Wakes the saving thread. */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base.h"
#include "recorder_private.h"

void events_wake(struct events_recorder *events) {
    __atomic_fetch_add(&events->wakes, 1, __ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(&events->is_asleep, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &events->wakes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
