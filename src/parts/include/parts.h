/* Parts of osprof that need libraries, which its build may lack (meson.build). */
#ifndef PARTS_H
#define PARTS_H

enum part {
    PART_BPF,
    PART_STACKS,
    PART_SERVE,
    PART_TOP,
    PART_STATISTICS,
    PART_PROTOBUF,
    PART_CONTAINERS,
};

/* Why this build lacks a part, for users: the library and Debian's packages; NULL: it has it. Up to 120 bytes. */
const char *part_missing(enum part part);

#endif
