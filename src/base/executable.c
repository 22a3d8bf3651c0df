/* The first bytes of the file say it: "#!", or an ELF header, behind which a program header names the loader. */
#include "executable.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base.h"

#define SCRIPTS_MAX 4 /* as many as the kernel follows */
#define LINE_SIZE 256 /* as much as the kernel reads */
#define HEADERS_MAX 64
#define HEADERS_AT_ONCE 16
#define LOADER_SIZE 128
#define NOTES_SIZE 512

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#else
#define OWN_MACHINE EM_NONE
#endif

/* Who executes a program. */
struct executor {
    uid_t uid;
    gid_t gid;
};

/* True if a note in a segment is that of Go's linker. */
static bool is_of_go(int fd, const Elf64_Phdr *header) {
    char notes[NOTES_SIZE];
    Elf64_Nhdr note;
    const size_t wanted_bytes = header->p_filesz < sizeof(notes) ? header->p_filesz : sizeof(notes);
    ssize_t size_bytes = pread(fd, notes, wanted_bytes, (off_t)header->p_offset);
    for (size_t at = 0; size_bytes > 0 && at + sizeof(note) + 4 <= (size_t)size_bytes;) {
        memcpy(&note, notes + at, sizeof(note));
        if (note.n_namesz == 4 && memcmp(notes + at + sizeof(note), "Go\0\0", 4) == 0)
            return true;
        at += sizeof(note) + (((size_t)note.n_namesz + 3) & ~(size_t)3) + (((size_t)note.n_descsz + 3) & ~(size_t)3);
    }
    return false;
}

static enum executable look_at_elf(int fd, const Elf64_Ehdr *elf) {
    enum executable kind = EXECUTABLE_STATIC;
    Elf64_Phdr headers[HEADERS_AT_ONCE];
    bool has_go = false;
    char loader[LOADER_SIZE] = "";
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || (OWN_MACHINE != EM_NONE && elf->e_machine != OWN_MACHINE))
        return EXECUTABLE_FOREIGN;
    if (elf->e_phentsize != sizeof(headers[0]) || elf->e_phnum > HEADERS_MAX)
        return EXECUTABLE_DYNAMIC;
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        const Elf64_Phdr *header = &headers[i % HEADERS_AT_ONCE];
        const size_t rest_bytes = (elf->e_phnum - i) * sizeof(*header);
        const size_t size_bytes = rest_bytes < sizeof(headers) ? rest_bytes : sizeof(headers);
        if (header == headers &&
            pread(fd, headers, size_bytes, (off_t)(elf->e_phoff + i * sizeof(*header))) != (ssize_t)size_bytes)
            return EXECUTABLE_DYNAMIC;
        if (header->p_type == PT_NOTE)
            has_go = has_go || is_of_go(fd, header);
        if (header->p_type != PT_INTERP)
            continue;
        kind = EXECUTABLE_DYNAMIC;
        const size_t loader_bytes = header->p_filesz < sizeof(loader) ? header->p_filesz : sizeof(loader) - 1;
        if (pread(fd, loader, loader_bytes, (off_t)header->p_offset) > 0 && strstr(loader, "ld-musl"))
            kind = EXECUTABLE_FOREIGN;
    }
    return kind == EXECUTABLE_DYNAMIC && has_go ? EXECUTABLE_GO : kind;
}

/* For a script, ret_line becomes its interpreter, and *ret_is_script is set. */
static enum executable look_once(const char *path, const struct executor *by, char ret_line[LINE_SIZE],
                                 bool *ret_is_script) {
    Elf64_Ehdr elf;
    struct stat attr;
    CLEANUP_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &attr) < 0 || !S_ISREG(attr.st_mode))
        return EXECUTABLE_DYNAMIC;
    ssize_t length = pread(fd, ret_line, LINE_SIZE - 1, 0);
    if (length >= 2 && ret_line[0] == '#' && ret_line[1] == '!') {
        ret_line[length] = '\0';
        char *name = ret_line + 2 + strspn(ret_line + 2, " \t"); /* the interpreter's */
        name[strcspn(name, " \t\n")] = '\0';
        memmove(ret_line, name, strlen(name) + 1);
        *ret_is_script = ret_line[0] != '\0';
        return EXECUTABLE_DYNAMIC;
    }
    const bool is_set_group_id = (attr.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
    if ((attr.st_mode & S_ISUID && attr.st_uid != by->uid) || (is_set_group_id && attr.st_gid != by->gid) ||
        (by->uid != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0))
        return EXECUTABLE_SET_ID;
    if (length < (ssize_t)sizeof(elf) || memcmp(ret_line, ELFMAG, SELFMAG) != 0)
        return EXECUTABLE_DYNAMIC;
    memcpy(&elf, ret_line, sizeof(elf));
    return look_at_elf(fd, &elf);
}

enum executable executable_look_as(const char *path, uid_t uid, gid_t gid) {
    const struct executor by = {uid, gid};
    char line[LINE_SIZE];
    enum executable kind = EXECUTABLE_DYNAMIC;
    const char *next = path;
    bool is_script = true;
    for (unsigned i = 0; is_script && i < SCRIPTS_MAX; i++) {
        is_script = false;
        kind = look_once(next, &by, line, &is_script);
        next = line;
    }
    if (kind != EXECUTABLE_STATIC)
        return kind;
    /* A loader is linked as a static program is: only its name tells. */
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const bool is_loader =
        strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-2.", 5) == 0 || strncmp(name, "ld.so", 5) == 0;
    return is_loader ? EXECUTABLE_LOADER : EXECUTABLE_STATIC;
}

enum executable executable_look(const char *path) {
    return executable_look_as(path, getuid(), getgid());
}

bool executable_preloads(enum executable kind) {
    return kind == EXECUTABLE_DYNAMIC || kind == EXECUTABLE_GO;
}

const char *executable_reason(enum executable kind) {
    static const char *const reasons[] = {
        [EXECUTABLE_DYNAMIC] = NULL,
        [EXECUTABLE_LOADER] = NULL,
        [EXECUTABLE_GO] = "it is written in Go, and makes most of its system calls by itself",
        [EXECUTABLE_STATIC] = "it is statically linked",
        [EXECUTABLE_SET_ID] = "it runs as another user, or with capabilities",
        [EXECUTABLE_FOREIGN] = "it is for another C library or architecture",
    };
    return reasons[kind];
}

const char *executable_find(const char *name, char *ret_path, unsigned long size_bytes) {
    const char *rest = getenv("PATH");
    if (strchr(name, '/'))
        return name;
    if (!rest)
        rest = "/bin:/usr/bin";
    for (const char *end; name[0]; rest = end + 1) {
        struct stat attr;
        end = strchrnul(rest, ':');
        int length = snprintf(ret_path, size_bytes, "%.*s%s%s", (int)(end - rest), rest, end > rest ? "/" : "", name);
        if (length > 0 && (unsigned long)length < size_bytes && access(ret_path, X_OK) == 0 &&
            stat(ret_path, &attr) == 0 && S_ISREG(attr.st_mode))
            return ret_path;
        if (!*end)
            break;
    }
    return NULL;
}
