/* Remembering calls. */
#include "layer_failing.h"

#include <string.h>

#include "base.h"

static int remember(struct fs_layer *layer, enum fs_op op, const uint64_t *words, size_t word_count) {
    struct layer_failing *failing = container_of(layer, struct layer_failing, layer);
    failing->calls++;
    failing->op = op;
    failing->word_count = word_count;
    memcpy(failing->words, words, word_count * sizeof(*words));
    return failing->status;
}

#define FAILING_OP(NAME, member, params, ...)                                                                          \
    static int failing_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                       \
        const uint64_t words[] = {OP_WORDS(params)};                                                                   \
        return remember(layer, FS_OP_##NAME, words, ARRAY_SIZE(words));                                                \
    }
FS_OPS(FAILING_OP)

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    struct layer_failing *failing = container_of(layer, struct layer_failing, layer);
    failing->forgets++;
    failing->forgotten_ino = ino;
    failing->forgotten_count = count;
}

#define FAILING_ROW(NAME, member, params, ...) .member = failing_##member,
static const struct fs_ops failing_ops = {FS_OPS(FAILING_ROW).forget = forget};

void layer_failing_init(struct layer_failing *failing, int status) {
    *failing = (struct layer_failing){.layer.ops = &failing_ops, .status = status};
}

bool layer_failing_was_called_with(const struct layer_failing *failing, enum fs_op op, struct op_arguments *arguments) {
    uint64_t words[OP_WORDS_MAX];
    size_t word_count = op_words(op, arguments, words);
    return failing->op == op && failing->word_count == word_count &&
           memcmp(failing->words, words, word_count * sizeof(*words)) == 0;
}
