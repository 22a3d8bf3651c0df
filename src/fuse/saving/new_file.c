/* New files. */
#include "new_file.h"

#include "base.h"

int new_file_write(struct new_file *file, int dir_fd, mode_t mode, const struct control_text *text) {
    *file = (struct new_file){.dir_fd = dir_fd, .file = {.fd = -1}};
    int err = nameless_file_create(dir_fd, &file->file);
    return err < 0 ? err : nameless_file_fill(&file->file, mode, text->text, text->size_bytes);
}

int new_file_name(struct new_file *file, const char *name) {
    return nameless_file_give_name(&file->file, name, false);
}

void new_file_finish(struct new_file *file) {
    nameless_file_finish(&file->file);
    close_fd(&file->dir_fd);
}
