/* Private: a program or library: the names of its functions, and its unwind tables. The file may be hostile: numbers
 * and lengths of names are bounded here, and the caller bounds the time. */
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbol {
    uint64_t address;
    uint64_t size_bytes;
    const char *name; /* owned by the file; not ended by a NUL */
    unsigned name_bytes;
    bool is_global;
};

struct elf_file {
    int fd;
    bool is_read; /* the rest: when it is first asked for */
    Elf *elf;
    Dwarf_CFI *unwind;          /* NULL: it has none, or is for another machine */
    struct elf_symbol *symbols; /* functions, by address */
    size_t symbol_count;
    uint64_t entry; /* an address: where the kernel begins the program */
    bool is_static; /* a program without an interpreter, which holds the C library */
};

/* Owner:   takes fd, and the caller finishes *ret_file */
void elf_file_init(struct elf_file *ret_file, int fd);

/* Reads names and finds the tables, once. The others below do so too. */
void elf_file_read(struct elf_file *file);

/* From a place in the file to an address of its symbols and tables. Returns false if it is no code */
bool elf_file_address(struct elf_file *file, uint64_t offset, uint64_t *ret_address);

/* NULL: there is none. Owner: the file */
const struct elf_symbol *elf_file_symbol(struct elf_file *file, uint64_t address);

void elf_file_finish(struct elf_file *file);

#endif
