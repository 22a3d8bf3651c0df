/* New files. */
#include "new_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"

int new_file_write(struct new_file *file, int dir_fd, mode_t mode, const struct control_text *text) {
    *file = (struct new_file){.dir_fd = dir_fd, .file = {.fd = -1}};
    int err = nameless_file_create(dir_fd, &file->file);
    if (err == 0)
        err = write_all(file->file.fd, text->text, text->size_bytes);
    if (err == 0 && (fchmod(file->file.fd, mode) < 0 || fsync(file->file.fd) < 0))
        err = negative_errno();
    return err;
}

int new_file_name(struct new_file *file, const char *name) {
    return nameless_file_give_name(&file->file, name, false);
}

void new_file_finish(struct new_file *file) {
    nameless_file_finish(&file->file);
    close_fd(&file->dir_fd);
}
