#include "attach_cgroup.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "container_names.h"
#include "mounts.h"
#include "path.h"

#define FIRST_CGROUP_NAMESPACE 0xeffffffbU /* PROC_CGROUP_INIT_INO: the inode of the one that shows all */
#define SHOWN_MAX 3                        /* of several that have the name */

/* ---- The tree --------------------------------------------------------------------------------- */

int cgroup_tree_find(char **ret_root) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    int error = mounts_open(&table);
    if (error || !mounts_of_type(&table, "cgroup2", &entry))
        return error ? error : -ENOENT;
    *ret_root = strdup(entry.path);
    return *ret_root ? 0 : -ENOMEM;
}

int cgroup_tree_walk(const char *root, cgroup_tree_visit_fn visit, void *context) {
    CLEANUP_FREE char *copy = strdup(root);
    char *roots[] = {copy, NULL};
    FTS *tree = copy ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL) : NULL;
    if (!tree)
        return negative_errno();
    for (const FTSENT *entry = fts_read(tree); entry; entry = fts_read(tree))
        if (entry->fts_info == FTS_D && entry->fts_level > 0)
            visit(context, entry->fts_path, path_below(entry->fts_path, root));
    fts_close(tree);
    return 0;
}

/* ---- Searching -------------------------------------------------------------------------------- */

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Those of that name, and of containers of that name or id, anywhere below the root. */
struct search {
    const char *name;
    struct container_names *containers;
    unsigned count;
    char *first;         /* directory of it */
    char shown[3 * 120]; /* the first ones */
};

/* A cgroup_tree_visit_fn. */
static void visit(void *context, const char *directory, const char *path) {
    struct search *search = context;
    struct container container;
    const size_t length = strlen(search->shown);
    const bool is_container = container_names_find(search->containers, path, &container) && !container.is_inner &&
                              container_is_called(&container, search->name);
    if (!is_container && strcmp(strrchr(path, '/') + 1, search->name) != 0)
        return;
    if (search->count < SHOWN_MAX)
        snprintf(search->shown + length, sizeof(search->shown) - length, "%s%s", length > 0 ? ", " : "", path);
    if (search->count++ == 0)
        search->first = strdup(directory);
}

static int search_below(const char *root, struct search *search) {
    search->containers = container_names_create("", root);
    int error = search->containers ? cgroup_tree_walk(root, visit, search) : -ENOMEM;
    container_names_destroy(search->containers);
    return error;
}

/* ---- Finding one ------------------------------------------------------------------------------ */

/* Owner: the caller frees *ret_directory. Errors: reported to the user */
static int search_name(const char *name, char *root, char **ret_directory) {
    struct search search = {.name = name};
    const char *containers = part_missing(PART_CONTAINERS);
    int error = search_below(root, &search);
    if (error)
        complain("cannot search for control group %s in %s: %s", name, root, strerror(-error));
    else if (search.count == 0)
        complain("there is no control group %s below %s%s%s", name, root,
                 containers ? "; containers are known by their ids alone: " : "", containers ? containers : "");
    else if (search.count > 1)
        complain("there are %u control groups of the name %s: %s%s; name one by its path", search.count, name,
                 search.shown, search.count > SHOWN_MAX ? ", ..." : "");
    else
        *ret_directory = steal_pointer(&search.first);
    free(search.first);
    return error ? error : *ret_directory ? 0 : -ENOENT;
}

/* The same. */
static int find_directory(const char *name, char *root, char **ret_directory) {
    CLEANUP_FREE char *given = path_normalise(name);
    CLEANUP_FREE char *below = path_join(root, name[0] == '/' ? name + 1 : name);
    CLEANUP_FREE char *directory = below ? path_normalise(below) : NULL;
    if (!given || !directory)
        return -ENOMEM;
    const bool is_given = name[0] == '/' && path_below(given, root) && is_directory(given);
    if (is_given)
        *ret_directory = steal_pointer(&given);
    else if (path_below(directory, root) && is_directory(directory))
        *ret_directory = steal_pointer(&directory);
    else
        return search_name(name, root, ret_directory);
    return 0;
}

static unsigned level_of(const char *path) {
    unsigned level = 0;
    for (const char *at = path; *at; at++)
        level += at[0] == '/' && at[1] != '\0';
    return level;
}

/* Errors: reported to the user, except -ENOMEM */
static int describe(const char *name, char *root, struct attach_cgroup *cgroup) {
    struct stat st;
    int error = find_directory(name, root, &cgroup->directory);
    if (error)
        return error;
    const char *below = path_below(cgroup->directory, root);
    cgroup->path = strdup(below && below[0] ? below : "/");
    if (!cgroup->path)
        return -ENOMEM;
    if (stat(cgroup->directory, &st) < 0) {
        complain("cannot watch control group %s: %s", name, strerror(errno));
        return negative_errno();
    }
    cgroup->number = st.st_ino;
    cgroup->level = level_of(cgroup->path);
    return 0;
}

static int check_namespace(void) {
    struct stat st;
    if (stat("/proc/self/ns/cgroup", &st) < 0 || st.st_ino == FIRST_CGROUP_NAMESPACE)
        return 0;
    complain("cannot watch control groups from within a namespace of them: osprof must run outside of it");
    return -EXDEV;
}

int attach_cgroup_find(const char *name, struct attach_cgroup *ret_cgroup) {
    CLEANUP_FREE char *root = NULL;
    struct attach_cgroup cgroup = {.directory = NULL};
    if (!name[0]) {
        complain("cannot watch a control group without a name");
        return -EINVAL;
    }
    int error = check_namespace();
    if (error)
        return error;
    error = cgroup_tree_find(&root);
    if (error == -ENOENT)
        complain("cannot watch control group %s: none of version 2 are mounted, only they tell of each process which "
                 "one it is in",
                 name);
    else if (error)
        complain("cannot watch control group %s: %s", name, strerror(-error));
    else
        error = describe(name, root, &cgroup);
    if (error)
        attach_cgroup_finish(&cgroup);
    else
        *ret_cgroup = cgroup;
    return error;
}

bool attach_cgroup_is_there(const struct attach_cgroup *cgroup) {
    struct stat st;
    return stat(cgroup->directory, &st) == 0 && st.st_ino == cgroup->number;
}

void attach_cgroup_finish(struct attach_cgroup *cgroup) {
    free(cgroup->directory);
    free(cgroup->path);
    *cgroup = (struct attach_cgroup){.directory = NULL};
}
