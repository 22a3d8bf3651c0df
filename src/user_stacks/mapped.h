/* Private: the executable mappings of the most recently used processes. The mapped files stay open as long as that. */
#ifndef MAPPED_H
#define MAPPED_H

#include "elf_file.h"
#include "unreadable.h"

#define MAPPED_NAME_SIZE 64

struct shared_file; /* opaque */

/* Code of a process. */
struct mapping {
    uint64_t start;
    uint64_t end;
    uint64_t offset;             /* in the file */
    struct file_place place;     /* its inode is 0 if it is no file */
    char name[MAPPED_NAME_SIZE]; /* "libc.so.6", "[vdso]"; "": none */
    struct shared_file *shared;
    struct elf_file *file; /* NULL: there is none, or it could not be opened. Owner: shared */
    bool is_program;       /* not a library */
};

struct process {
    uint32_t number;
    uint64_t start_stack; /* address of the stack's beginning; differs for each program that the process executes */
    uint64_t used;        /* the latest use */
    struct mapping *mappings;
    size_t count;
};

/* Before all others. The table is borrowed; at_of_table: of it, this reader's. */
void mapped_init(struct unreadable *table, struct file_place *at_of_table);

/* The current mappings of a process; if it has ended or executes another program, the mappings at the latest call.
 * Owner:   static, until the next call
 * Returns NULL if the mappings are unknown */
const struct process *mapped_find(uint32_t process, uint64_t start_stack);

/* Forgets all of it, and frees nothing: it may be half changed. */
void mapped_abandon(void);

/* Call them around what reads the file of a mapping, and what that file leads to. If it takes too much time, all in all, the
 * file is noted as unreadable. mapped_begin() returns false if it is: then its file may not be read. NULL is fine. */
bool mapped_begin(const struct mapping *mapping);
void mapped_end(const struct mapping *mapping);

/* Notes the file that is being read as unreadable. */
void mapped_note_unreadable(void);

/* No file is being read. */
void mapped_rest(void);

/* NULL: there is no code at the address. */
const struct mapping *mapped_at(const struct process *process, uint64_t address);

#endif
