/* Stolen time: time in which the hypervisor ran other virtual machines although a CPU of this one had work to do. */
#ifndef STOLEN_H
#define STOLEN_H

#include <stdbool.h>
#include <stdint.h>

/* Parses the text of /proc/stat: the "steal" of all CPUs, in ticks. Returns false if there is no such field */
bool stolen_parse(const char *stat, uint64_t *ret_ticks);

/* Since the machine started, as a mean over its CPUs. Returns false if the kernel does not say */
bool stolen_read_ns(uint64_t *ret_ns);

#endif
