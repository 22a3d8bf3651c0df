#include "mount_labels.h"

#include <unistd.h>

static void add(struct mount_labels *labels, const char *key, const char *value) {
    if (value)
        labels->labels[labels->count++] = (struct aggstats_label){(char *)(uintptr_t)key, (char *)(uintptr_t)value};
}

void mount_labels_fill(struct mount_labels *ret_labels, const struct mount_labels_of *of) {
    *ret_labels = (struct mount_labels){.count = 0};
    gethostname(ret_labels->host, sizeof(ret_labels->host) - 1);
    add(ret_labels, "layer", of->layer);
    add(ret_labels, "host", ret_labels->host);
    add(ret_labels, "lower", of->lower);
    add(ret_labels, "devices", of->devices);
    if (of->whose.key)
        add(ret_labels, of->whose.key, of->whose.value);
    add(ret_labels, "mount", of->mount);
    add(ret_labels, "fstype", of->filesystem);
    add(ret_labels, "control", of->control);
    add(ret_labels, "profile", of->profile);
    for (size_t i = 0; i < of->given->count; i++) {
        const char *value = user_label_split(of->given->texts[i], ret_labels->keys[i]);
        add(ret_labels, ret_labels->keys[i], value);
    }
}
