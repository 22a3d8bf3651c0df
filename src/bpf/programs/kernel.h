/* The structs of the kernel that programs read, with just the members that they read: where these are is found when a
 * program is loaded (CO-RE). */
#ifndef KERNEL_H
#define KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct;

struct fuse_in_header {
    __u32 opcode;
};

struct fuse_out_header {
    __u32 len;
    __s32 error;
};

struct fuse_in_arg {
    unsigned int size;
    const void *value;
};

struct fuse_arg {
    unsigned int size;
    void *value;
};

struct fuse_args {
    struct fuse_in_arg in_args[3];
    struct fuse_arg out_args[2];
};

struct fuse_conn {
    __u32 dev;
};

struct fuse_mount {
    struct fuse_conn *fc;
};

struct fuse_req {
    struct {
        struct fuse_in_header h;
    } in;
    struct {
        struct fuse_out_header h;
    } out;
    struct fuse_args *args;
    struct fuse_mount *fm;
};

struct gendisk {
    int major;
    int first_minor;
};

struct request_queue {
    struct gendisk *disk;
};

struct request {
    struct request_queue *q;
    unsigned int cmd_flags;
    unsigned int __data_len;
};

/* Until Linux 5.16. */
struct request___with_disk {
    struct gendisk *rq_disk;
};

#pragma clang attribute pop

#endif
