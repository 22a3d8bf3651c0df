/* Functions behind an object are those that the loader finds there. */

#include "next_symbol_asker.h"
#include "testing.h"

/* The last four of libc's have two versions. */
static const char *const functions[] = {
    "read",    "write",     "openat64",  "close",       "fcntl",        "ioctl",       "mmap64",
    "syscall", "fopen",     "fclose",    "vfprintf",    "__overflow",   "__fgets_chk", "getdelim",
    "opendir", "readdir64", "renameat2", "statx",       "execve",       "vfork",       "_exit",
    "malloc",  "next_only", "putw",      "posix_spawn", "posix_spawnp", "glob",        "pthread_kill",
};

/* Not with a C library without such tables. */
bool testing_possible(void) {
    return asker_works();
}

TEST(functions_are_those_that_the_loader_finds, .to = sizeof(functions) / sizeof(functions[0])) {
    const char *symbol = functions[_i];
    void *found = asker_asks_loader(symbol);
    ck_assert_msg(found, "%s is not there", symbol);
    ck_assert_msg(asker_reads(symbol) == found, "%s is another function", symbol);
}

TEST(library_before_the_c_library_goes_first) {
    ck_assert(asker_reads("putw") == (void *)(__UINTPTR_TYPE__)next_wrapper);
    ck_assert_int_eq(next_only(), 1);
}

/* Left to the loader: indirect functions, variables, and what is not there. */
TEST(what_is_no_function_there_is_not_found) {
    static const char *const others[] = {"environ", "asker_works", "no_such_function", "", "rea", "readx"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_msg(!asker_reads(others[i]), "%s", others[i]);
    void *strlen_found = asker_reads("strlen");
    ck_assert(!strlen_found || strlen_found == asker_asks_loader("strlen"));
}
