#include "container_names.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "container_files.h"

#define HEX_DIGITS "0123456789abcdef"

/* ---- Control groups --------------------------------------------------------------------------- */

/* How runtimes call the last component of the path of a container's group. */
struct component {
    enum container_runtime runtime;
    const char *prefix; /* before the id; systemd's groups have ".scope" behind it */
    const char *below;  /* what must be in the path before the component; NULL: anything */
};

static const struct component components[] = {
    {CONTAINER_DOCKER, "docker-", NULL},      {CONTAINER_PODMAN, "libpod-", NULL},
    {CONTAINER_CRIO, "crio-", NULL},          {CONTAINER_CONTAINERD, "cri-containerd-", NULL},
    {CONTAINER_CONTAINERD, "nerdctl-", NULL}, {CONTAINER_DOCKER, "", "/docker/"},
    {CONTAINER_KUBERNETES, "", "/kubepods"},
};

/* Returns the id in a component of the path, or NULL. */
static const char *match(const char *path, const char *at, size_t length, const struct component *component) {
    const size_t prefix = strlen(component->prefix);
    const char *id = at + prefix;
    const char *above = component->below ? strstr(path, component->below) : path;
    if (length < prefix + CONTAINER_ID_DIGITS || strncmp(at, component->prefix, prefix) != 0)
        return NULL;
    const size_t rest = length - prefix - CONTAINER_ID_DIGITS;
    const bool ends = rest == 0 || (rest == strlen(".scope") && strncmp(id + CONTAINER_ID_DIGITS, ".scope", rest) == 0);
    return ends && above && above < at && strspn(id, HEX_DIGITS) == CONTAINER_ID_DIGITS ? id : NULL;
}

static bool parse_component(const char *path, const char *at, size_t length, struct container *ret_container) {
    for (size_t i = 0; i < ARRAY_SIZE(components); i++) {
        const char *id = match(path, at, length, &components[i]);
        if (!id)
            continue;
        *ret_container = (struct container){.runtime = components[i].runtime, .is_inner = at[length] != '\0'};
        memcpy(ret_container->id, id, CONTAINER_ID_DIGITS);
        return true;
    }
    return false;
}

static uid_t user_of(const char *path) {
    static const char above[] = "/user.slice/user-";
    static const char below[] = ".slice/";
    char *end;
    if (strncmp(path, above, strlen(above)) != 0)
        return 0;
    const unsigned long user = strtoul(path + strlen(above), &end, 10);
    return strncmp(end, below, strlen(below)) == 0 && user < UINT32_MAX ? (uid_t)user : 0;
}

bool container_parse(const char *path, struct container *ret_container) {
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        const char *at = slash + 1;
        if (!parse_component(path, at, strcspn(at, "/"), ret_container))
            continue;
        ret_container->user = user_of(path);
        ret_container->above_bytes = (size_t)(slash - path);
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

/* Its own place, or the one that gives way. */
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

static bool have_users_time(struct container_names *names, int64_t now_ns) {
    const int64_t filled_ns = names->users_left_ns + (now_ns - names->filled_ns) * USERS_PER_S / NS_PER_S;
    names->users_left_ns = filled_ns < USERS_NS ? filled_ns : USERS_NS;
    names->filled_ns = now_ns;
    return names->users_left_ns > 0;
}

/* Returns false if it is not the time to look: then it is not remembered either. */
static bool look_up(struct container_names *names, struct container *container) {
    const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (container->user != 0 && !have_users_time(names, begin_ns))
        return false;
    container_files_read_name(names->root, container);
    if (container->user != 0)
        names->users_left_ns -= read_clock_ns(CLOCK_MONOTONIC) - begin_ns;
    return true;
}

static void find_name(struct container_names *names, struct container *container) {
    struct known *known = find_place(names, container);
    const bool is_known = known->asked > 0 && is_same(&known->container, container);
    if (is_known)
        memcpy(container->name, known->container.name, sizeof(container->name));
    else if (look_up(names, container))
        known->container = *container;
    else
        return;
    known->asked = ++names->questions;
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
    if (!container_parse(path, ret_container) || !is_made_by_runtime(names, path, ret_container))
        return false;
    pthread_mutex_lock(&names->lock);
    find_name(names, ret_container);
    pthread_mutex_unlock(&names->lock);
    return true;
}
