/* Lists of devices that are watched. */
#ifndef DEVICES_H
#define DEVICES_H

#include "kernel.h"

/* Returns a device's place in a list, or -1. max: a constant, at least count */
static __always_inline int find_device(const volatile __u32 *devices, __u32 count, __u32 max, __u32 device) {
    for (__u32 i = 0; i < max; i++)
        if (i < count && devices[i] == device)
            return (int)i;
    return -1;
}

#endif
