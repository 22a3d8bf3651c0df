/* Stolen time: in which the machine's hypervisor ran others although CPUs of ours could have worked. */
#ifndef STOLEN_H
#define STOLEN_H

#include <stdbool.h>
#include <stdint.h>

/* Of /proc/stat: the "steal" of all CPUs, in ticks. False: it has none */
bool stolen_parse(const char *stat, uint64_t *ret_ticks);

/* Since the machine has started, on the mean of its CPUs. False: nobody tells */
bool stolen_read_ns(uint64_t *ret_ns);

#endif
