/* Names of containers in the files of their runtimes. A user's containers are looked for below his home directory, so he
 * can name only his own; what is there is not trusted. */
#include "containers.h"

#include <fcntl.h>
#include <jansson.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "dir.h"
#include "mounts.h"
#include "path.h"

#define FILE_BYTES_MAX (1U << 20)
#define PASSWD_LINE_BYTES 4096
#define NAMESPACES_MAX 64 /* of containerd that are looked at */

/* ---- Reading a file ----------------------------------------------------------------------------- */

/* True if reading there waits for a server or a daemon. */
static bool may_hang(const char *path) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    mounts_open(&table);
    return !mounts_of_path(&table, path, &entry) || mounts_may_hang(&entry);
}

/* ---- What a file says --------------------------------------------------------------------------- */

/* Appends to the name what runtimes allow in names; else the name is "". */
static void append(struct container *container, const char *text) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const size_t length = strlen(container->name);
    const bool fits =
        text && text[0] && text[strspn(text, allowed)] == '\0' && length + strlen(text) < CONTAINER_NAME_SIZE;
    snprintf(container->name + (fits ? length : 0), CONTAINER_NAME_SIZE - (fits ? length : 0), "%s", fits ? text : "");
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* {"Name": "/web1", ...} */
static void read_docker(const json_t *file, struct container *container) {
    const char *name = text_of(file, "Name");
    append(container, name && name[0] == '/' ? name + 1 : name);
}

/* [{"id": "3f2a...", "names": ["web1"], ...}, ...] */
static void read_storage(const json_t *file, struct container *container) {
    for (size_t i = 0; i < json_array_size(file); i++) {
        const json_t *row = json_array_get(file, i);
        const char *id = text_of(row, "id");
        if (id && strcmp(id, container->id) == 0)
            append(container, json_string_value(json_array_get(json_object_get(row, "names"), 0)));
    }
}

/* {"annotations": {"io.kubernetes.cri.sandbox-name": "shop-0", "io.kubernetes.cri.container-name": "web", ...}, ...}
 * A pod's own container, which holds its namespaces, has the name of the pod alone. */
static void read_containerd(const json_t *file, struct container *container) {
    const json_t *annotations = json_object_get(file, "annotations");
    const char *pod = text_of(annotations, "io.kubernetes.cri.sandbox-name");
    const char *name = text_of(annotations, "io.kubernetes.cri.container-name");
    append(container, pod ? pod : text_of(annotations, "nerdctl/name"));
    const size_t length = strlen(container->name);
    if (!pod || !name || length == 0 || length + 1 >= CONTAINER_NAME_SIZE)
        return;
    memcpy(container->name + length, "/", 2);
    append(container, name);
}

/* ---- Where files are ---------------------------------------------------------------------------- */

struct place {
    void (*read)(const json_t *file, struct container *container);
    const char *directory; /* of the system's */
    const char *in_home;   /* of a user's */
    bool is_by_id;         /* the file is in a directory of that name */
    const char *name;
};

static const struct place docker_places[] = {
    {read_docker, "/var/lib/docker/containers", ".local/share/docker/containers", true, "config.v2.json"},
    {NULL},
};

#define STORAGE "/var/lib/containers/storage", ".local/share/containers/storage"
static const struct place storage_places[] = {
    {read_storage, STORAGE, false, "overlay-containers/containers.json"},
    {read_storage, STORAGE, false, "overlay-containers/volatile-containers.json"},
    {read_storage, STORAGE, false, "vfs-containers/containers.json"},
    {read_storage, STORAGE, false, "vfs-containers/volatile-containers.json"},
    {read_storage, STORAGE, false, "btrfs-containers/containers.json"},
    {read_storage, STORAGE, false, "btrfs-containers/volatile-containers.json"},
    {NULL},
};
#undef STORAGE

#define TASKS "/run/containerd/io.containerd.runtime.v2.task"

/* A user's directory is below his home, by the machine's own file: nothing else is asked, which may be a server.
 * Owner: the caller frees it. Returns NULL if there is none, or it is not known */
static char *find_directory(const char *root, const struct place *place, uid_t user) {
    CLEANUP_FREE char *path = path_join(root, "etc/passwd");
    char line[PASSWD_LINE_BYTES];
    struct passwd entry;
    struct passwd *found = NULL;
    if (user == 0)
        return path_join(root, place->directory + 1);
    CLEANUP_STREAM FILE *stream = path ? fopen(path, "re") : NULL;
    while (stream && fgetpwent_r(stream, &entry, line, sizeof(line), &found) == 0) {
        if (entry.pw_uid != user || entry.pw_dir[0] != '/')
            continue;
        CLEANUP_FREE char *home = path_join(root, entry.pw_dir + 1);
        return home ? path_join(home, place->in_home) : NULL;
    }
    return NULL;
}

/* In a user's home no symbolic link is followed: it may lead to any file system. */
static void read_place(const char *directory, const struct place *place, struct container *container) {
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
                                 .resolve = container->user != 0 ? RESOLVE_NO_SYMLINKS : 0};
    CLEANUP_FREE char *below = place->is_by_id ? path_join(directory, container->id) : strdup(directory);
    CLEANUP_FREE char *path = below ? path_join(below, place->name) : NULL;
    CLEANUP_FD int fd = !path || may_hang(path) ? -1 : (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > FILE_BYTES_MAX)
        return;
    CLEANUP_FREE char *text = malloc((size_t)st.st_size);
    const ssize_t length = text ? read(fd, text, (size_t)st.st_size) : -1;
    json_t *file = length > 0 ? json_loadb(text, (size_t)length, 0, NULL) : NULL;
    if (file)
        place->read(file, container);
    json_decref(file);
}

/* In one of the namespaces. */
static void read_tasks(const char *root, struct container *container) {
    static const struct place task = {.read = read_containerd, .is_by_id = true, .name = "config.json"};
    CLEANUP_FREE char *directory = path_join(root, &TASKS[1]);
    if (!directory || container->user != 0 || may_hang(directory))
        return;
    CLEANUP_DIR DIR *namespaces = opendir(directory);
    const struct dirent *entry = namespaces ? readdir(namespaces) : NULL;
    for (unsigned i = 0; entry && i < NAMESPACES_MAX && !container->name[0]; i++, entry = readdir(namespaces)) {
        CLEANUP_FREE char *below = entry->d_name[0] != '.' ? path_join(directory, entry->d_name) : NULL;
        if (below)
            read_place(below, &task, container);
    }
}

void container_files_read_name(const char *root, struct container *container) {
    static const struct place *const places[CONTAINER_RUNTIMES] = {
        [CONTAINER_DOCKER] = docker_places, [CONTAINER_PODMAN] = storage_places, [CONTAINER_CRIO] = storage_places};
    const struct place *place = places[container->runtime];
    if (!place)
        read_tasks(root, container);
    for (; place && place->read && !container->name[0]; place++) {
        CLEANUP_FREE char *directory = find_directory(root, place, container->user);
        if (directory)
            read_place(directory, place, container);
    }
}
