/* Types of file systems that hold no files, but show and control the kernel. Also for programs in the kernel. */
#ifndef PSEUDO_FILESYSTEMS_H
#define PSEUDO_FILESYSTEMS_H

/* X(their number in statfs(2), the name in the table of mounts, or "" if none is mounted anywhere).
 * Source: <linux/magic.h>, which lacks some, and the sources of the kernel for these. */
/* clang-format off */
#define PSEUDO_FILESYSTEMS(X) \
    X(0x00009fa0, "proc") \
    X(0x62656572, "sysfs") \
    X(0x00001cd1, "devpts") \
    X(0x0027e0eb, "cgroup") \
    X(0x63677270, "cgroup2") \
    X(0x64626720, "debugfs") \
    X(0x74726163, "tracefs") \
    X(0xcafe4a11, "bpf") \
    X(0x73636673, "securityfs") \
    X(0xf97cff8c, "selinuxfs") \
    X(0x43415d53, "smackfs") \
    X(0x5a3c69f0, "") \
    X(0x6165676c, "pstore") \
    X(0xde5e81e4, "efivarfs") \
    X(0x42494e4d, "binfmt_misc") \
    X(0x07655821, "resctrl") \
    X(0x62656570, "configfs") \
    X(0x65735543, "fusectl") \
    X(0x19800202, "mqueue") \
    X(0x67596969, "rpc_pipefs") \
    X(0x6e667364, "nfsd") \
    X(0x6c6f6f70, "binder") \
    X(0x00000187, "autofs") \
    X(0x6e736673, "nsfs") \
    X(0x50495045, "") /* pipes */ \
    X(0x534f434b, "") /* sockets */ \
    X(0x09041934, "") /* files without a name, such as of epoll(7) */ \
    X(0x5345434d, "") /* memfd_secret(2) */ \
    X(0x50494446, "") /* pidfd_open(2) */ \
    X(0x444d4142, "") /* buffers of devices */
/* clang-format on */

#endif
