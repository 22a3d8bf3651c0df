/* Files that were merged from several recordings: to which recording a call belongs, and which calls have no known
 * order. */
#include <string.h>

#include "base.h"
#include "events_private.h"

/* Reads the first line "host NAME". Escapes are left as they are: they are rare, and the name is only shown. */
int events_host_describe(struct events_host_seen *host) {
    static const char word[] = "host ";
    for (const char *line = host->description; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, strlen(word)) != 0)
            continue;
        line += strlen(word);
        host->name = strndup(line, strcspn(line, "\n"));
        return host->name ? 0 : -ENOMEM;
    }
    return 0;
}

void events_host_free(struct events_host_seen *host) {
    free(host->name);
    free(host->description);
}

bool events_has_open_host(const struct events_file *file) {
    for (size_t i = 0; i < file->host_count; i++)
        if (file->hosts[i].head.flags & EVENTS_HOST_OPEN)
            return true;
    return false;
}

const struct events_host_seen *events_host_of(const struct events_file *file, uint32_t stream) {
    for (size_t i = 0; i < file->host_count; i++) {
        const struct events_host *host = &file->hosts[i].head;
        if (stream >= host->first_stream && stream - host->first_stream < host->stream_count)
            return &file->hosts[i];
    }
    return NULL;
}

/* The last call of each host. */
struct events_order {
    const struct events_file *file;
    int64_t last_ns[]; /* [host_count]; INT64_MIN: none yet */
};

int events_order_create(const struct events_file *file, struct events_order **ret_order) {
    struct events_order *order = malloc(sizeof(*order) + file->host_count * sizeof(order->last_ns[0]));
    if (!order)
        return -ENOMEM;
    order->file = file;
    for (size_t i = 0; i < file->host_count; i++)
        order->last_ns[i] = INT64_MIN;
    *ret_order = order;
    return 0;
}

static bool is_within(int64_t from_ns, int64_t to_ns, uint64_t one_error_ns, uint64_t other_error_ns) {
    uint64_t passed_ns = to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
    return one_error_ns >= passed_ns || other_error_ns >= passed_ns - one_error_ns;
}

bool events_is_unordered(struct events_order *order, const struct event *event) {
    const struct events_file *file = order->file;
    const struct events_host_seen *host = events_host_of(file, event->stream);
    bool is_unordered = false;
    if (!host)
        return false;
    int64_t now_ns = events_unix_ns(file, event->start_cycles);
    for (size_t i = 0; i < file->host_count && !is_unordered; i++) {
        const struct events_host *other = &file->hosts[i].head;
        is_unordered = other->machine != host->head.machine && order->last_ns[i] != INT64_MIN &&
                       is_within(order->last_ns[i], now_ns, host->head.error_ns, other->error_ns);
    }
    order->last_ns[host - file->hosts] = now_ns;
    return is_unordered;
}
