/* Containers are recognised by the paths of their control groups; a user can make groups of any name, so each user's
 * containers have their own places among the names that are remembered. */
#include "containers.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "mounts.h"
#include "path.h"

#define HEX_DIGITS "0123456789abcdef"
#define FIRST_CGROUP_NAMESPACE 0xeffffffbU /* PROC_CGROUP_INIT_INO: the inode of the first namespace, which shows all */
#define SHOWN_MAX 3                        /* of several that have the name */

/* ---- Containers ------------------------------------------------------------------------------- */

/* How runtimes call the last component of the path of a container's group. */
static const struct {
    enum container_runtime runtime;
    const char *prefix; /* before the id; systemd's groups have ".scope" behind it */
    const char *below;  /* what must be in the path before the component; NULL: anything */
} components[] = {
    {CONTAINER_DOCKER, "docker-", NULL},      {CONTAINER_PODMAN, "libpod-", NULL},
    {CONTAINER_CRIO, "crio-", NULL},          {CONTAINER_CONTAINERD, "cri-containerd-", NULL},
    {CONTAINER_CONTAINERD, "nerdctl-", NULL}, {CONTAINER_DOCKER, "", "/docker/"},
    {CONTAINER_KUBERNETES, "", "/kubepods"},
};

static bool parse_component(const char *path, const char *at, struct container *ret_container) {
    const size_t length = strcspn(at, "/");
    for (size_t i = 0; i < ARRAY_SIZE(components); i++) {
        const size_t prefix = strlen(components[i].prefix);
        const char *id = at + prefix;
        const char *above = components[i].below ? strstr(path, components[i].below) : path;
        if (length < prefix + CONTAINER_ID_DIGITS || strncmp(at, components[i].prefix, prefix) != 0)
            continue;
        const size_t rest = length - prefix - CONTAINER_ID_DIGITS;
        if (rest != 0 && (rest != strlen(".scope") || strncmp(id + CONTAINER_ID_DIGITS, ".scope", rest) != 0))
            continue;
        if (!above || above >= at || strspn(id, HEX_DIGITS) != CONTAINER_ID_DIGITS)
            continue;
        *ret_container = (struct container){.runtime = components[i].runtime, .is_inner = at[length] != '\0'};
        memcpy(ret_container->id, id, CONTAINER_ID_DIGITS);
        return true;
    }
    return false;
}

bool container_parse(const char *path, struct container *ret_container) {
    static const char above[] = "/user.slice/user-";
    static const char below[] = ".slice/";
    char *end;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (!parse_component(path, slash + 1, ret_container))
            continue;
        ret_container->above_bytes = (size_t)(slash - path);
        if (strncmp(path, above, strlen(above)) != 0)
            return true;
        const unsigned long user = strtoul(path + strlen(above), &end, 10);
        if (strncmp(end, below, strlen(below)) == 0 && user < UINT32_MAX)
            ret_container->user = (uid_t)user;
        return true;
    }
    return false;
}

/* ---- Words ------------------------------------------------------------------------------------ */

void container_describe(const struct container *container, char *ret_text, size_t size_bytes) {
    static const char *const runtimes[CONTAINER_RUNTIMES] = {[CONTAINER_DOCKER] = "docker",
                                                             [CONTAINER_PODMAN] = "podman",
                                                             [CONTAINER_CRIO] = "crio",
                                                             [CONTAINER_CONTAINERD] = "containerd",
                                                             [CONTAINER_KUBERNETES] = "kubernetes"};
    const bool is_named = container->name[0];
    snprintf(ret_text, size_bytes, "%s%s%s %.*s%s", container->name, is_named ? " (" : "", runtimes[container->runtime],
             CONTAINER_ID_SHOWN, container->id, is_named ? ")" : "");
}

bool container_is_called(const struct container *container, const char *text) {
    const size_t length = strlen(text);
    const bool is_id = length >= CONTAINER_ID_SHOWN && strncmp(container->id, text, length) == 0;
    return is_id || (text[0] && strcmp(container->name, text) == 0);
}

/* ---- Names ------------------------------------------------------------------------------------ */

/* A name is remembered where the hash of its container says. Of these places the one that was asked for longest ago gives
 * way. Users can make groups for any id: their containers have places of their own, and looking up their names may take
 * only so much time. */
#define SETS 1024U
#define PLACES 4U
#define USERS_NS INT64_C(2000000000)  /* at once */
#define USERS_PER_S INT64_C(50000000) /* from then on, in ns */

enum owner { OF_ROOT, OF_USERS, OWNERS };

struct known {
    struct container container;
    uint64_t asked; /* the number of the question that was about it last; 0: the place is free */
};

struct container_names {
    const char *root;
    const char *groups;
    pthread_mutex_t lock; /* protects the rest */
    uint64_t questions;
    int64_t users_left_ns; /* for names of users' containers */
    int64_t filled_ns;     /* when that was reckoned */
    struct known known[OWNERS][SETS][PLACES];
};

struct container_names *container_names_create(const char *root, const char *groups) {
    struct container_names *names = calloc(1, sizeof(*names));
    if (!names)
        return NULL;
    names->root = root;
    names->groups = groups;
    names->users_left_ns = USERS_NS;
    names->filled_ns = read_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&names->lock, NULL);
    return names;
}

void container_names_destroy(struct container_names *names) {
    if (!names)
        return;
    pthread_mutex_destroy(&names->lock);
    free(names);
}

static bool is_same(const struct container *a, const struct container *b) {
    return a->runtime == b->runtime && a->user == b->user && strcmp(a->id, b->id) == 0;
}

/* The place of a container, or the place that gives way. */
static struct known *find_place(struct container_names *names, const struct container *container) {
    const uint64_t hash = hash_text(HASH_BEGIN + container->runtime + ((uint64_t)container->user << 8), container->id);
    struct known *places = names->known[container->user == 0 ? OF_ROOT : OF_USERS][hash % SETS];
    struct known *oldest = &places[0];
    for (size_t i = 0; i < PLACES; i++) {
        if (places[i].asked > 0 && is_same(&places[i].container, container))
            return &places[i];
        if (places[i].asked < oldest->asked)
            oldest = &places[i];
    }
    return oldest;
}

/* Returns false if users' containers have no time left: then the container is not remembered either. */
static bool look_up(struct container_names *names, struct container *container) {
    const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (container->user == 0) {
        container_files_read_name(names->root, container);
        return true;
    }
    const int64_t filled_ns = names->users_left_ns + (begin_ns - names->filled_ns) * USERS_PER_S / NS_PER_S;
    names->users_left_ns = filled_ns < USERS_NS ? filled_ns : USERS_NS;
    names->filled_ns = begin_ns;
    if (names->users_left_ns <= 0)
        return false;
    container_files_read_name(names->root, container);
    names->users_left_ns -= read_clock_ns(CLOCK_MONOTONIC) - begin_ns;
    return true;
}

/* A path without its beginning, and a group that has gone, do not tell. */
static bool is_made_by_runtime(const struct container_names *names, const char *path,
                               const struct container *container) {
    char above[PATH_MAX];
    struct stat st;
    const int length = names->groups && path[0] == '/'
                           ? snprintf(above, sizeof(above), "%s%.*s", names->groups, (int)container->above_bytes, path)
                           : -1;
    if (length < 0 || length >= (int)sizeof(above) || stat(above, &st) < 0)
        return false;
    return st.st_uid == 0 || st.st_uid == container->user || st.st_uid == geteuid();
}

bool container_names_find(struct container_names *names, const char *path, struct container *ret_container) {
    struct container *container = ret_container;
    if (!container_parse(path, container) || !is_made_by_runtime(names, path, container))
        return false;
    pthread_mutex_lock(&names->lock);
    struct known *known = find_place(names, container);
    const bool is_known = known->asked > 0 && is_same(&known->container, container);
    const bool is_found = is_known || look_up(names, container);
    if (is_known)
        memcpy(container->name, known->container.name, sizeof(container->name));
    else if (is_found)
        known->container = *container;
    if (is_found)
        known->asked = ++names->questions;
    pthread_mutex_unlock(&names->lock);
    return true;
}

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

/* Owner: the caller frees *ret_directory. Errors: reported to the user */
static int search_name(const char *name, char *root, char **ret_directory) {
    struct search search = {.name = name, .containers = container_names_create("", root)};
    const char *containers = part_missing(PART_CONTAINERS);
    const int error = search.containers ? cgroup_tree_walk(root, visit, &search) : -ENOMEM;
    container_names_destroy(search.containers);
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

int attach_cgroup_find(const char *name, struct attach_cgroup *ret_cgroup) {
    CLEANUP_FREE char *root = NULL;
    struct attach_cgroup cgroup = {.directory = NULL};
    struct stat st;
    if (!name[0]) {
        complain("cannot watch a control group without a name");
        return -EINVAL;
    }
    if (stat("/proc/self/ns/cgroup", &st) == 0 && st.st_ino != FIRST_CGROUP_NAMESPACE) {
        complain("cannot watch control groups from within a namespace of them: osprof must run outside of it");
        return -EXDEV;
    }
    int error = cgroup_tree_find(&root);
    if (error == -ENOENT)
        complain("cannot watch control group %s: none of version 2 are mounted, only they tell of each process which "
                 "one it is in",
                 name);
    else if (error)
        complain("cannot watch control group %s: %s", name, strerror(-error));
    else
        error = find_directory(name, root, &cgroup.directory);
    if (error == 0 && stat(cgroup.directory, &st) < 0) {
        error = negative_errno();
        complain("cannot watch control group %s: %s", name, strerror(-error));
    }
    const char *below = error ? NULL : path_below(cgroup.directory, root);
    cgroup.path = error ? NULL : strdup(below && below[0] ? below : "/");
    if (!cgroup.path) {
        attach_cgroup_finish(&cgroup);
        return error ? error : -ENOMEM;
    }
    cgroup.number = st.st_ino;
    for (const char *at = cgroup.path; *at; at++)
        cgroup.level += at[0] == '/' && at[1] != '\0';
    *ret_cgroup = cgroup;
    return 0;
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
