/* permissions prepare DIR IDENTITY EVERY [brief]: as root, makes the objects that the same command with "run" needs.
 * permissions run DIR IDENTITY EVERY [brief]: makes every EVERY-th of all calls in the directory as the identity.
 * permissions manifest DIR IDENTITY: prints the contents of the directory afterwards; the identity is only printed.
 * permissions list [brief]: prints the identities.
 * When executed under the name --ids, the program prints its user and groups. */
#include "permissions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NAME_ROOM = 128, PATH_ROOM = 256 };

static const char *identity_name;
static char notes[512];
static struct {
    bool brief; /* only objects that are marked so */
    unsigned every;
    unsigned offset;
} selection;

void must(bool ok, const char *what, const char *path) {
    if (ok)
        return;
    fprintf(stderr, "permissions: cannot %s %s: %s\n", what, path, strerror(errno));
    exit(2);
}

/* ---- Lines ---- */

void note(const char *format, ...) {
    size_t used = strlen(notes);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes + used, sizeof(notes) - used, format, arguments);
    va_end(arguments);
}

const char *outcome(long result) {
    return result == -1 ? strerrorname_np(errno) : "OK";
}

static void print_attributes(const char *path) {
    struct stat st;
    if (lstat(path, &st) < 0) {
        printf(" | %s", strerrorname_np(errno));
        return;
    }
    printf(" | %06o %u:%u", st.st_mode, st.st_uid, st.st_gid);
    if (S_ISREG(st.st_mode))
        printf(" %lld", (long long)st.st_size);
    if (S_ISCHR(st.st_mode))
        printf(" %u:%u", major(st.st_rdev), minor(st.st_rdev));
}

void print_line(const char *object, const char *call, long result, const char *path) {
    printf("%s | %s | %s -> %s%s", identity_name, object, call, outcome(result), notes);
    if (path)
        print_attributes(path);
    putchar('\n');
    notes[0] = '\0';
}

/* ---- Objects and calls ---- */

/* The name of the object that the call is tried on. */
static void path_of(const char *name, const struct call *call, char *ret_path) {
    if (call->changes)
        snprintf(ret_path, PATH_ROOM, "%s.%s", name, call->name);
    else
        snprintf(ret_path, PATH_ROOM, "%s", name);
}

bool is_selected(char kind, unsigned object_index, unsigned call_index) {
    const char *many = selection.brief ? "fd" : "fdpsclx#";
    return !strchr(many, kind) || (object_index + call_index + selection.offset) % selection.every == 0;
}

static bool is_tried(const struct object *object, size_t call_index) {
    return strchr(calls[call_index].kinds, object->kind) &&
           (strcmp(calls[call_index].name, "execve") == 0 ||
            is_selected(object->kind, (unsigned)(object - objects), (unsigned)call_index));
}

static void prepare_object(const struct object *object, const char *name) {
    object_make(object, name);
    if (object->kind == 'd')
        names_prepare(name, (unsigned)(object - objects));
    object_seal(object, name);
    for (size_t i = 0; i < call_count; i++) {
        char path[PATH_ROOM];
        path_of(name, &calls[i], path);
        if (calls[i].changes && is_tried(object, i)) {
            object_make(object, path);
            object_seal(object, path);
        }
    }
}

static void run_object(const struct object *object, const char *name) {
    for (size_t i = 0; i < call_count; i++) {
        if (!is_tried(object, i))
            continue;
        char path[PATH_ROOM];
        path_of(name, &calls[i], path);
        int result = calls[i].make(path, &calls[i]);
        print_line(name, calls[i].name, result, calls[i].changes ? path : NULL);
    }
    if (object->kind == 'd')
        names_run(name, (unsigned)(object - objects));
}

static void with_objects(void (*action)(const struct object *object, const char *name)) {
    for (size_t i = 0; i < object_count; i++) {
        char name[NAME_ROOM];
        object_name(&objects[i], name, sizeof(name));
        if (objects[i].brief || !selection.brief)
            action(&objects[i], name);
    }
}

static void enter(const char *directory) {
    must(chdir(directory) == 0, "enter", directory);
}

static int prepare(const char *directory) {
    must(mkdir(directory, 0777) == 0 && chmod(directory, 0777) == 0, "make", directory);
    enter(directory);
    umask(0);
    must(mkdir("elsewhere", 0777) == 0, "make", "elsewhere");
    must(mkdir("locked", 0700) == 0, "make", "locked");
    object_make_plain("locked/inside", 'f', ROOT);
    object_make_plain("target", 'f', OTHER);
    with_objects(prepare_object);
    return 0;
}

static int run(const char *directory) {
    must(identity_become(identity_name) == 0, "become", identity_name);
    enter(directory);
    umask(022);
    with_objects(run_object);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int list(bool brief) {
    identity_list(brief);
    return 0;
}

static int usage(void) {
    fputs("usage: permissions prepare|run DIR IDENTITY EVERY [brief] | manifest DIR IDENTITY | list [brief]\n", stderr);
    return 2;
}

static int prepare_or_run(char **argv) {
    identity_name = argv[3];
    selection.offset = identity_index(argv[3]);
    selection.every = (unsigned)atoi(argv[4]);
    if (selection.every == 0)
        return usage();
    return strcmp(argv[1], "prepare") == 0 ? prepare(argv[2]) : run(argv[2]);
}

int main(int argc, char **argv) {
    selection.brief = argc > 1 && strcmp(argv[argc - 1], "brief") == 0;
    argc -= selection.brief;
    if (argc == 1 && strcmp(argv[0], "--ids") == 0) {
        identity_print_own();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list(selection.brief);
    if (argc == 5 && (strcmp(argv[1], "prepare") == 0 || strcmp(argv[1], "run") == 0))
        return prepare_or_run(argv);
    if (argc == 4 && strcmp(argv[1], "manifest") == 0)
        return manifest_print(argv[2], argv[3]);
    return usage();
}
