/* Reads symbols and unwind tables with libelf and libdw, when they are first asked for. Symbols are sorted by
 * address; a name stays in the table of the file. */
#include "elf_file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLE_BYTES_MAX (UINT64_C(128) << 20) /* of symbols, and of their names */
#define SYMBOLS_MAX (UINT64_C(1) << 20)       /* functions; of more the first are read */
#define NAME_BYTES_MAX 256                    /* of a name; the rest is cut */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

void elf_file_init(struct elf_file *ret_file, int fd) {
    *ret_file = (struct elf_file){.fd = fd};
}

/* ---- Symbols ------------------------------------------------------------------------------------ */

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static void add_symbols(struct elf_file *file, Elf_Data *data, size_t count, const Elf_Data *names) {
    GElf_Sym symbol;
    file->symbols = calloc(smaller(count, SYMBOLS_MAX) + 1, sizeof(*file->symbols));
    for (size_t i = 0; i < count && file->symbol_count < SYMBOLS_MAX && file->symbols && names->d_buf; i++) {
        if (!gelf_getsym(data, (int)i, &symbol))
            continue;
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
        if (!is_function || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0 || symbol.st_name >= names->d_size)
            continue;
        const char *name = (const char *)names->d_buf + symbol.st_name;
        const size_t name_bytes = strnlen(name, smaller(names->d_size - symbol.st_name, NAME_BYTES_MAX));
        if (name_bytes > 0)
            file->symbols[file->symbol_count++] =
                (struct elf_symbol){.address = symbol.st_value,
                                    .size_bytes = symbol.st_size,
                                    .name = name,
                                    .name_bytes = (unsigned)name_bytes,
                                    .is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL};
    }
}

/* type: of the table. Returns whether it has any function */
static bool read_table(struct elf_file *file, unsigned type) {
    GElf_Shdr header;
    GElf_Shdr names;
    for (Elf_Scn *section = elf_nextscn(file->elf, NULL); section; section = elf_nextscn(file->elf, section)) {
        if (!gelf_getshdr(section, &header) || header.sh_type != type || header.sh_entsize == 0 ||
            header.sh_size > TABLE_BYTES_MAX)
            continue;
        Elf_Scn *name_section = elf_getscn(file->elf, header.sh_link);
        if (!name_section || !gelf_getshdr(name_section, &names) || names.sh_size > TABLE_BYTES_MAX)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        const Elf_Data *name_data = elf_rawdata(name_section, NULL);
        if (data && name_data && !file->symbols)
            add_symbols(file, data, header.sh_size / header.sh_entsize, name_data);
    }
    if (file->symbol_count > 0)
        return true;
    free(file->symbols);
    file->symbols = NULL;
    return false;
}

static unsigned underscores(const struct elf_symbol *symbol) {
    unsigned count = 0;
    while (count < symbol->name_bytes && symbol->name[count] == '_')
        count++;
    return count;
}

/* Of several names of one function: a global one, with the fewest underscores. */
static int compare_symbols(const void *left, const void *right) {
    const struct elf_symbol *a = left;
    const struct elf_symbol *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->is_global != b->is_global)
        return a->is_global ? -1 : 1;
    if (underscores(a) != underscores(b))
        return underscores(a) < underscores(b) ? -1 : 1;
    const int order = memcmp(a->name, b->name, smaller(a->name_bytes, b->name_bytes));
    return order != 0 ? order : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

/* What cannot be read has no symbols. */
void elf_file_read(struct elf_file *file) {
    GElf_Ehdr header;
    GElf_Phdr program_header;
    size_t count = 0;
    if (file->is_read)
        return;
    file->is_read = true;
    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
        return;
    file->entry = header.e_entry;
    file->is_static = true;
    if (elf_getphdrnum(file->elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && file->is_static; i++)
        file->is_static = !gelf_getphdr(file->elf, (int)i, &program_header) || program_header.p_type != PT_INTERP;
    if (header.e_machine == OWN_MACHINE && gelf_getclass(file->elf) == ELFCLASS64)
        file->unwind = dwarf_getcfi_elf(file->elf);
    if (read_table(file, SHT_SYMTAB) || read_table(file, SHT_DYNSYM))
        qsort(file->symbols, file->symbol_count, sizeof(*file->symbols), compare_symbols);
}

/* ---- Addresses ---------------------------------------------------------------------------------- */

bool elf_file_address(struct elf_file *file, uint64_t offset, uint64_t *ret_address) {
    size_t count = 0;
    GElf_Phdr header;
    elf_file_read(file);
    if (!file->elf || elf_getphdrnum(file->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD && offset >= header.p_offset &&
            offset - header.p_offset < header.p_filesz) {
            *ret_address = offset - header.p_offset + header.p_vaddr;
            return true;
        }
    return false;
}

const struct elf_symbol *elf_file_symbol(struct elf_file *file, uint64_t address) {
    elf_file_read(file);
    size_t low = 0;
    size_t high = file->symbol_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (file->symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    /* The first symbol at the last address that is not above. */
    size_t place = low - 1;
    while (place > 0 && file->symbols[place - 1].address == file->symbols[place].address)
        place--;
    for (; place < low; place++)
        if (address - file->symbols[place].address < file->symbols[place].size_bytes)
            return &file->symbols[place];
    return NULL;
}

void elf_file_finish(struct elf_file *file) {
    if (file->unwind)
        dwarf_cfi_end(file->unwind);
    elf_end(file->elf);
    free(file->symbols);
    close(file->fd);
}
