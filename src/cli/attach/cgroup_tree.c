#include "cgroup_tree.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "mounts.h"
#include "path.h"

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
