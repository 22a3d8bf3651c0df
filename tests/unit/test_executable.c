/* What is said of a program before it is executed. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executable.h"
#include "testing.h"

static char directory[] = "/tmp/test-executable-XXXXXX";
static char program[sizeof(directory) + 16];
static char script[sizeof(directory) + 16];

static void set_up(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(program, sizeof(program), "%s/program", directory);
    snprintf(script, sizeof(script), "%s/script", directory);
}

static void tear_down(void) {
    unlink(program);
    unlink(script);
    rmdir(directory);
}

static void write_file(const char *path, const void *data, size_t size_bytes) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, size_bytes), (ssize_t)size_bytes);
    close(fd);
}

static int own_machine(void) {
    Elf64_Ehdr own;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(fd, &own, sizeof(own)), sizeof(own));
    close(fd);
    return own.e_machine;
}

/* The owner of the second note in the segment of notes; "": there is no such segment. */
static char note_owner[4];

/* loader: NULL: none */
static void write_elf(int class, int machine, const char *loader) {
    struct {
        Elf64_Ehdr elf;
        Elf64_Phdr headers[2];
        char loader[64];
        struct {
            Elf64_Nhdr header;
            char owner[4];
            char text[8];
        } notes[2];
    } file = {
        .elf = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, (unsigned char)class, ELFDATA2LSB, EV_CURRENT},
                .e_machine = (Elf64_Half)machine,
                .e_phoff = sizeof(Elf64_Ehdr),
                .e_phentsize = sizeof(Elf64_Phdr),
                .e_phnum = loader ? 2 : 1},
        .headers = {{.p_type = PT_LOAD}, {.p_type = PT_INTERP}},
    };
    if (note_owner[0]) {
        file.headers[0] = (Elf64_Phdr){
            .p_type = PT_NOTE, .p_offset = offsetof(__typeof__(file), notes), .p_filesz = sizeof(file.notes)};
        file.notes[0].header = file.notes[1].header = (Elf64_Nhdr){.n_namesz = 4, .n_descsz = 7};
        memcpy(file.notes[1].owner, note_owner, 4);
    }
    if (loader) {
        file.headers[1].p_offset = offsetof(__typeof__(file), loader);
        file.headers[1].p_filesz = strlen(loader) + 1;
        snprintf(file.loader, sizeof(file.loader), "%s", loader);
    }
    write_file(program, &file, sizeof(file));
}

static void write_script(const char *interpreter) {
    char text[128];
    snprintf(text, sizeof(text), "#! %s -x\necho\n", interpreter);
    write_file(script, text, strlen(text));
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(program_with_a_loader_is_dynamic) {
    write_elf(ELFCLASS64, own_machine(), "/lib64/ld-linux-x86-64.so.2");
    ck_assert_int_eq(executable_look(program), EXECUTABLE_DYNAMIC);
    ck_assert_int_eq(executable_look("/proc/self/exe"), EXECUTABLE_DYNAMIC);
}

TEST(program_without_a_loader_is_static) {
    write_elf(ELFCLASS64, own_machine(), NULL);
    ck_assert_int_eq(executable_look(program), EXECUTABLE_STATIC);
}

TEST(loader_is_known_by_its_name) {
    write_elf(ELFCLASS64, own_machine(), NULL);
    snprintf(script, sizeof(script), "%s/ld-linux.so.2", directory);
    ck_assert_int_eq(rename(program, script), 0);
    ck_assert_int_eq(executable_look(script), EXECUTABLE_LOADER);
    ck_assert_ptr_null(executable_reason(EXECUTABLE_LOADER));
}

TEST(dynamic_program_of_go_is_told_by_its_note) {
    memcpy(note_owner, "Go", 3);
    write_elf(ELFCLASS64, own_machine(), "/lib64/ld-linux-x86-64.so.2");
    ck_assert_int_eq(executable_look(program), EXECUTABLE_GO);
    write_elf(ELFCLASS64, own_machine(), NULL);
    ck_assert_int_eq(executable_look(program), EXECUTABLE_STATIC);
    memcpy(note_owner, "GNU", 4);
    write_elf(ELFCLASS64, own_machine(), "/lib64/ld-linux-x86-64.so.2");
    ck_assert_int_eq(executable_look(program), EXECUTABLE_DYNAMIC);
    note_owner[0] = '\0';
}

TEST(other_loaders_and_machines_are_foreign) {
    write_elf(ELFCLASS64, own_machine(), "/lib/ld-musl-x86_64.so.1");
    ck_assert_int_eq(executable_look(program), EXECUTABLE_FOREIGN);
    write_elf(ELFCLASS32, EM_386, "/lib/ld-linux.so.2");
    ck_assert_int_eq(executable_look(program), EXECUTABLE_FOREIGN);
    write_elf(ELFCLASS64, EM_SPARCV9, NULL);
    ck_assert_int_eq(executable_look(program), EXECUTABLE_FOREIGN);
}

TEST(script_is_what_its_interpreter_is) {
    write_elf(ELFCLASS64, own_machine(), NULL);
    write_script(program);
    ck_assert_int_eq(executable_look(script), EXECUTABLE_STATIC);
    write_script(script); /* the kernel does not follow this for ever either */
    ck_assert_int_eq(executable_look(script), EXECUTABLE_DYNAMIC);
    write_script("");
    ck_assert_int_eq(executable_look(script), EXECUTABLE_DYNAMIC);
}

TEST(set_id_program_is_so_for_others_only) {
    write_elf(ELFCLASS64, own_machine(), "/lib64/ld-linux-x86-64.so.2");
    ck_assert_int_eq(chmod(program, 04755), 0);
    ck_assert_int_eq(executable_look(program), EXECUTABLE_DYNAMIC);
    if (geteuid() == 0 && chown(program, 65534, 0) == 0 && chmod(program, 04755) == 0)
        ck_assert_int_eq(executable_look(program), EXECUTABLE_SET_ID);
}

TEST(what_is_no_program_is_left_alone) {
    write_file(program, "\177ELF", 4);
    ck_assert_int_eq(executable_look(program), EXECUTABLE_DYNAMIC);
    write_file(program, "", 0);
    ck_assert_int_eq(executable_look(program), EXECUTABLE_DYNAMIC);
    ck_assert_int_eq(executable_look(directory), EXECUTABLE_DYNAMIC);
    ck_assert_int_eq(executable_look("/dev/null"), EXECUTABLE_DYNAMIC);
    ck_assert_int_eq(executable_look("/none"), EXECUTABLE_DYNAMIC);
}

TEST(name_is_looked_for_in_the_path) {
    char found[64];
    char path[128];
    write_file(program, "", 0);
    snprintf(path, sizeof(path), "/none:%s", directory);
    setenv("PATH", path, 1);
    ck_assert_str_eq(executable_find("program", found, sizeof(found)), program);
    ck_assert_ptr_null(executable_find("script", found, sizeof(found)));
    ck_assert_ptr_null(executable_find("", found, sizeof(found)));
    ck_assert_ptr_null(executable_find("program", found, 4));
    ck_assert_str_eq(executable_find("./any", found, sizeof(found)), "./any");
}
