#include "container.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define HEX_DIGITS "0123456789abcdef"

/* ---- Control groups ----------------------------------------------------------------------------- */

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

/* ---- Words -------------------------------------------------------------------------------------- */

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
