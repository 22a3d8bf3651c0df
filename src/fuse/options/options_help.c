/* The description of the command line: for people, and for shells that complete it. */
#include "options.h"

#include <stdio.h>

#include <fuse_lowlevel.h>

#include "config.h"
#include "options_rows.h"
#include "uring.h"

void options_print_help(void) {
    static const struct option_style style = {
        .dashes = "-o ", .equals = "=", .margin = 4, .indent = 27, .columns_max = 120};
    printf("usage: osproffs [options] LOWER MOUNTPOINT\n"
           "\n"
           "Shows the directory LOWER at MOUNTPOINT and profiles every operation on it.\n"
           "Read the profile from MOUNTPOINT/.osprof, or look at it with osprof show MOUNTPOINT; other programs\n"
           "read it as MOUNTPOINT/.osprof.json and as MOUNTPOINT/.osprof.metrics (Prometheus).\n"
           "\n");
    for (const struct option_row *row = options_rows; row->kind != OPTION_END; row++)
        if (row->kind == OPTION_HEADING)
            printf("\n%s\n", row->help);
        else if (row->help)
            option_print_help(row, &style);
    printf("\nOptions of libfuse:\n");
    fuse_lowlevel_help();
}

void options_print_version(void) {
    printf("osproffs %s\n", OSPROFFS_VERSION);
    printf("libfuse %s (built against %d.%d)%s%s%s%s%s\n", fuse_pkgversion(), FUSE_MAJOR_VERSION, FUSE_MINOR_VERSION,
           OSPROFFS_HAS_TMPFILE ? " +tmpfile" : "", OSPROFFS_HAS_STATX ? " +statx" : "",
           OSPROFFS_HAS_SYNCFS ? " +syncfs" : "", OSPROFFS_HAS_PASSTHROUGH ? " +passthrough" : "",
           ring_is_built_in() ? " +io_uring" : "");
}

void options_print_completion(void) {
    static const char of_libfuse[] = "-o options\nallow_root flag\nauto_unmount flag";
    for (const struct option_row *row = options_rows; row->kind != OPTION_END; row++)
        if (row->name && !row->is_hidden)
            option_print_completion(row, "", "=");
    puts(of_libfuse);
    puts("* directory");
}
