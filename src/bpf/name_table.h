/* Where the kernel has its hash table of dentries, for name_lookup.h. */
#ifndef NAME_TABLE_H
#define NAME_TABLE_H

struct syscall_bpf;

/* Tells it to the programs, which are loaded. Without it more calls by names are not told. */
void name_table_find(struct syscall_bpf *programs);

#endif
