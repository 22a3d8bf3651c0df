/* A file that several processes map is opened and read once, and counts its users. Each file has a budget of CPU
 * time: a file that exceeds it is noted as unreadable. */
#include "mapped.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "proc.h"

#define PROCESSES_MAX 64
#define MAPPINGS_MAX 1024 /* of a process */
#define FILES_MAX 512     /* that are open at a time */
#define START_STACK_FIELD 28
#define READING_NS NS_PER_S    /* CPU time for a file: to read its names, and to begin with */
#define USE_NS INT64_C(500000) /* the same for each function of it, all in all */
#define DELETED " (deleted)"

/* ---- Files, each once --------------------------------------------------------------------------- */

struct shared_file {
    struct shared_file *next;
    struct stat identity;
    unsigned users;
    int64_t spent_ns; /* CPU time for reading the file */
    int64_t uses;
    struct elf_file file;
};

static struct shared_file *files;
static size_t file_count;

/* Takes fd. */
static struct shared_file *share_file(int fd) {
    struct stat identity;
    struct shared_file *shared = NULL;
    if (fstat(fd, &identity) == 0 && S_ISREG(identity.st_mode)) {
        for (shared = files; shared; shared = shared->next) {
            const struct stat *known = &shared->identity;
            if (known->st_dev != identity.st_dev || known->st_ino != identity.st_ino ||
                known->st_size != identity.st_size || known->st_mtim.tv_sec != identity.st_mtim.tv_sec ||
                known->st_mtim.tv_nsec != identity.st_mtim.tv_nsec)
                continue;
            close(fd);
            shared->users++;
            return shared;
        }
        shared = file_count < FILES_MAX ? calloc(1, sizeof(*shared)) : NULL;
    }
    if (!shared) {
        close(fd);
        return NULL;
    }
    *shared = (struct shared_file){.next = files, .identity = identity, .users = 1};
    elf_file_init(&shared->file, fd);
    files = shared;
    file_count++;
    return shared;
}

static void leave_file(struct shared_file *shared) {
    struct shared_file **at = &files;
    if (!shared || --shared->users > 0)
        return;
    while (*at != shared)
        at = &(*at)->next;
    *at = shared->next;
    file_count--;
    elf_file_finish(&shared->file);
    free(shared);
}

/* ---- What is mapped ----------------------------------------------------------------------------- */

static struct process processes[PROCESSES_MAX];
static uint64_t uses;

static void forget_mappings(struct process *process) {
    for (size_t i = 0; i < process->count; i++)
        leave_file(process->mappings[i].shared);
    free(process->mappings);
    process->mappings = NULL;
    process->count = 0;
}

/* ---- Files that take too long ------------------------------------------------------------------- */

static struct unreadable *unreadable;
static struct file_place *at;
static int64_t begin_ns;

void mapped_init(struct unreadable *table, struct file_place *at_of_table) {
    unreadable = table;
    at = at_of_table;
}

bool mapped_begin(const struct mapping *mapping) {
    if (!mapping || mapping->place.inode == 0)
        return true;
    if (unreadable_has(unreadable, &mapping->place))
        return false;
    *at = mapping->place;
    begin_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    return true;
}

void mapped_end(const struct mapping *mapping) {
    struct shared_file *shared = mapping ? mapping->shared : NULL;
    if (!shared)
        return;
    shared->spent_ns += read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
    shared->uses++;
    if (shared->spent_ns > READING_NS + shared->uses * USE_NS)
        mapped_note_unreadable();
}

void mapped_note_unreadable(void) {
    unreadable_note(unreadable, at);
}

void mapped_rest(void) {
    *at = (struct file_place){.inode = 0};
}

/* ---- Processes ---------------------------------------------------------------------------------- */

/* Closes files of processes that were not asked for longest, until another one can be opened. kept: not its files */
static void make_room(const struct process *kept) {
    while (file_count >= FILES_MAX) {
        struct process *oldest = NULL;
        for (size_t i = 0; i < PROCESSES_MAX; i++)
            if (&processes[i] != kept && processes[i].count > 0 && (!oldest || processes[i].used < oldest->used))
                oldest = &processes[i];
        if (!oldest)
            return;
        forget_mappings(oldest);
    }
}

/* before: what the process had mapped the last time: these files are open. */
static void open_mapped(const struct process *process, const struct process *before, struct mapping *mapping) {
    char path[96];
    for (size_t i = 0; i < before->count; i++) {
        const struct mapping *known = &before->mappings[i];
        if (!known->shared || known->start != mapping->start || known->end != mapping->end ||
            known->offset != mapping->offset || known->place.inode != mapping->place.inode ||
            known->place.device_major != mapping->place.device_major ||
            known->place.device_minor != mapping->place.device_minor)
            continue;
        mapping->shared = known->shared;
        mapping->shared->users++;
        mapping->file = &mapping->shared->file;
        return;
    }
    if (!mapped_begin(mapping))
        return;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, process->number, mapping->start,
             mapping->end);
    make_room(before);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    mapping->shared = fd >= 0 ? share_file(fd) : NULL;
    mapping->file = mapping->shared ? &mapping->shared->file : NULL;
}

/* A number up to a character, which is taken, too. Returns false if that is not there */
static bool take_number(char **cursor, int base, char end, uint64_t *ret_number) {
    char *rest;
    *ret_number = strtoull(*cursor, &rest, base);
    const bool is_there = rest > *cursor && *rest == end;
    *cursor = is_there ? rest + 1 : rest;
    return is_there;
}

/* "7f1c1000-7f1c5000 r-xp 00001000 fd:01 4711    /usr/bin/db". Returns false if it is no code */
static bool parse_mapping(char *line, struct mapping *ret_mapping, const char **ret_path) {
    char *cursor = line;
    uint64_t major;
    uint64_t minor;
    if (!take_number(&cursor, 16, '-', &ret_mapping->start) || !take_number(&cursor, 16, ' ', &ret_mapping->end) ||
        strcspn(cursor, " ") != 4 || cursor[2] != 'x')
        return false;
    cursor += strlen("r-xp");
    if (!take_number(&cursor, 16, ' ', &ret_mapping->offset) || !take_number(&cursor, 16, ':', &major) ||
        !take_number(&cursor, 16, ' ', &minor) || !take_number(&cursor, 10, ' ', &ret_mapping->place.inode))
        return false;
    ret_mapping->place.device_major = (unsigned)major;
    ret_mapping->place.device_minor = (unsigned)minor;
    *ret_path = cursor + strspn(cursor, " ");
    return true;
}

/* program: the path of the program itself */
static void add_mapping(struct process *process, const struct process *before, char *line, const char *program) {
    struct mapping mapping = {.name = ""};
    const char *path = "";
    line[strcspn(line, "\n")] = '\0';
    if (process->count == MAPPINGS_MAX || !parse_mapping(line, &mapping, &path) ||
        grow_array(&process->mappings, process->count, sizeof(*process->mappings)) < 0)
        return;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > strlen(DELETED) && strcmp(name + length - strlen(DELETED), DELETED) == 0)
        length -= strlen(DELETED);
    snprintf(mapping.name, sizeof(mapping.name), "%.*s",
             (int)(length < MAPPED_NAME_SIZE ? length : MAPPED_NAME_SIZE - 1), name);
    mapping.is_program = mapping.place.inode > 0 && strcmp(path, program) == 0;
    if (mapping.place.inode > 0)
        open_mapped(process, before, &mapping);
    process->mappings[process->count++] = mapping;
}

static bool has_start_stack(uint32_t number, uint64_t start_stack) {
    struct proc_stat stat;
    const char *field = proc_stat_read(number, &stat) ? proc_stat_field(&stat, START_STACK_FIELD) : NULL;
    return field && strtoull(field, NULL, 10) == start_stack;
}

/* Returns false if the process has ended, or executes another program. */
static bool read_mappings(uint32_t number, uint64_t start_stack, const struct process *before,
                          struct process *ret_process) {
    char path[32];
    char program[PATH_MAX];
    char *line = NULL;
    size_t room = 0;
    *ret_process = (struct process){.number = number, .start_stack = start_stack};
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", number);
    CLEANUP_STREAM FILE *maps = has_start_stack(number, start_stack) ? fopen(path, "re") : NULL;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", number);
    const ssize_t length = maps ? readlinkat(AT_FDCWD, path, program, sizeof(program) - 1) : -1;
    if (length <= 0)
        return false;
    program[length] = '\0';
    while (getline(&line, &room, maps) >= 0)
        add_mapping(ret_process, before, line, program);
    free(line);
    if (ret_process->count > 0 && has_start_stack(number, start_stack)) /* still */
        return true;
    forget_mappings(ret_process);
    return false;
}

const struct process *mapped_find(uint32_t process, uint64_t start_stack) {
    struct process *place = NULL;
    struct process now;
    /* The entry of the process; otherwise a free entry, or else the least recently used one. */
    for (struct process *entry = processes; entry < processes + PROCESSES_MAX; entry++) {
        const bool is_it = entry->number == process && entry->start_stack == start_stack;
        if (is_it || !place || entry->used < place->used)
            place = entry;
        if (is_it)
            break;
    }
    if (place->number != process || place->start_stack != start_stack)
        forget_mappings(place); /* it has another process's */
    if (start_stack != 0 && read_mappings(process, start_stack, place, &now)) {
        forget_mappings(place); /* the files of both stay open until here */
        *place = now;
    }
    if (place->number != process || place->start_stack != start_stack || place->count == 0)
        return NULL;
    place->used = ++uses;
    return place;
}

void mapped_abandon(void) {
    memset(processes, 0, sizeof(processes));
    files = NULL;
    file_count = 0;
}

const struct mapping *mapped_at(const struct process *process, uint64_t address) {
    for (size_t i = 0; i < process->count; i++)
        if (address >= process->mappings[i].start && address < process->mappings[i].end)
            return &process->mappings[i];
    return NULL;
}
