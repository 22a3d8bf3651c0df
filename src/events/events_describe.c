/* The description of an events file: lines of text. */
#include <ctype.h>
#include <string.h>

#include "base.h"
#include "events_private.h"

/* "\n", "\r" and "\\", in place. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        char next = *from;
        if (next == '\\' && from[1]) {
            from++;
            next = *from == 'n' ? '\n' : *from == 'r' ? '\r' : *from;
        }
        *to++ = next;
    }
    *to = '\0';
}

/* Returns the first word, and moves *text behind it. */
static char *take_word(char **text) {
    char *word = strsep(text, " ");
    if (!*text)
        *text = word + strlen(word);
    return word;
}

static int keep(char **place, char *value) {
    unescape(value);
    free(*place);
    *place = strdup(value);
    return *place ? 0 : -ENOMEM;
}

static bool take_number(const char *text, uint64_t most, uint64_t *ret_number) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno != 0 || number > most)
        return false;
    *ret_number = number;
    return true;
}

static int describe_label(struct events_file *file, char *rest) {
    struct events_label *grown = reallocarray(file->labels, file->label_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    file->labels = grown;
    struct events_label *label = &grown[file->label_count];
    *label = (struct events_label){0};
    int err = keep(&label->key, take_word(&rest));
    if (err == 0)
        err = keep(&label->value, rest);
    if (err == 0)
        file->label_count++;
    else
        free(label->key);
    return err;
}

/* Appends the names of a list. Returns false if there are too many. */
static bool take_names(char *list, const char **names, unsigned *count, unsigned most) {
    while (list && *list) {
        const char *name = strsep(&list, " ");
        if (*name == '\0')
            continue;
        if (*count == most)
            return false;
        names[(*count)++] = name;
    }
    return true;
}

/* An op with more columns than can be read stays unknown. If a number has several lines, the first counts: records are
 * read by it. */
static int describe_op(struct events_file *file, char *rest) {
    uint64_t number;
    if (!take_number(take_word(&rest), EVENTS_OPS_MAX - 1, &number) || file->ops[number].name)
        return 0;
    struct events_op op = {.lists = strdup(rest)};
    if (!op.lists)
        return -ENOMEM;
    char *lists = op.lists;
    char *names = strsep(&lists, "|");
    const char *name = strsep(&names, " ");
    op.counts_bytes = names && strcmp(names, "bytes") == 0;
    bool fits = take_names(strsep(&lists, "|"), op.columns, &op.column_count, EVENTS_COLUMNS_MAX);
    op.column_count_all = op.column_count;
    fits = fits && take_names(strsep(&lists, "|"), op.columns, &op.column_count_all, EVENTS_COLUMNS_MAX) &&
           take_names(strsep(&lists, "|"), op.texts, &op.text_count, EVENTS_TEXTS_MAX);
    if (*name && fits)
        op.name = strdup(name);
    if (op.name)
        file->ops[number] = op;
    else
        free(op.lists);
    return 0;
}

int events_describe(struct events_file *file, char *line) {
    const char *word = take_word(&line);
    uint64_t resolution;
    if (strcmp(word, "host") == 0)
        return keep(&file->host, line);
    if (strcmp(word, "osproffs") == 0)
        return keep(&file->version, line);
    if (strcmp(word, "boot") == 0)
        return keep(&file->boot, line);
    if (strcmp(word, "op") == 0)
        return describe_op(file, line);
    if (strcmp(word, "label") == 0)
        return describe_label(file, line);
    if (strcmp(word, "pid") == 0) {
        take_number(line, UINT64_MAX, &file->pid); /* an unreadable number leaves the pid unknown */
    } else if (strcmp(word, "resolution") == 0) {
        if (take_number(line, 8, &resolution) && resolution > 0 && (resolution & (resolution - 1)) == 0)
            file->resolution = (unsigned)resolution;
    } else if (strcmp(word, "clock") == 0) {
        char *kind = take_word(&line);
        if (!take_number(line, UINT64_MAX, &file->clock_hz))
            file->clock_hz = 0;
        return keep(&file->clock_kind, kind);
    }
    return 0;
}

void events_description_free(struct events_file *file) {
    free(file->host);
    free(file->version);
    free(file->boot);
    free(file->clock_kind);
    for (size_t i = 0; i < file->label_count; i++) {
        free(file->labels[i].key);
        free(file->labels[i].value);
    }
    free(file->labels);
    for (unsigned op = 0; op < EVENTS_OPS_MAX; op++) {
        free(file->ops[op].name);
        free(file->ops[op].lists);
    }
}

const char *events_only(const struct events_file *file) {
    for (size_t i = 0; i < file->label_count; i++)
        if (strcmp(file->labels[i].key, EVENTS_LABEL_ONLY) == 0)
            return file->labels[i].value;
    return NULL;
}
