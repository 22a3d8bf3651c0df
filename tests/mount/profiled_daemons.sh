#!/bin/bash
# osprof fuse: real daemons, as Debian has them, with libfuse 2 and 3, and with copies of their own: the requests that are
# counted are those that the kernel has sent, op by op, and all are answered.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/tracing.sh"
. "$tests_dir/profiled_lib.sh"

need_root
need_fuse
mount_image=
server_pid=
cleanup_more() {
    end_trace
    [ -z "$server_pid" ] || kill "$server_pid"
    [ -z "$mount_image" ] || losetup -d "$mount_image"
}
start_trace

# What reads and writes, in $mnt
write_load() {
    mkdir -p "$mnt/d/e"
    tar -C "$scratch/tree" -cf - . | tar -C "$mnt/d" -xf -
    for i in $(seq 11); do
        head -c 300000 /dev/zero >"$mnt/f$i"
        mv "$mnt/f$i" "$mnt/g$i"
    done
    cat "$mnt"/g* >/dev/null
    find "$mnt" -type f -exec wc -c {} + >/dev/null
    rm -r "$mnt/d" "$mnt"/g*
}

read_load() {
    find "$mnt" -type f -exec cat {} + >/dev/null
    ls -lR "$mnt" >/dev/null
}

# traced CONNECTION N: from the Nth INIT to the next: others may be given the number after us, and before
traced() {
    awk -v connection="$1" -v wanted="$2" -v known="$ops" '
        BEGIN { split(known, names, " "); for (i in names) known_op[names[i]] = 1 }
        {
            for (i = 1; $i != "connection"; i++)
                if (i > NF) next
            if ($(i + 1) != connection) next
            op = $(i + 6)
            gsub(/[()]|FUSE_/, "", op)
            if (op == "INIT") begun++
            else if (op in known_op && begun == wanted) calls[op]++
        }
        END { for (op in calls) print op, calls[op] }' "$instance/trace" | sort
}

tried=()
# try_daemon LOAD NAME COMMAND...: which mounts something at $mnt, and goes into the background
try_daemon() {
    local load=$1 name=$2 connection begun
    shift 2
    have "$name" || return 0
    tried+=("$name")
    rm -f "$profile"
    echo >"$instance/trace"
    "$OSPROF" fuse -o "$profile" -- "$@" >"$scratch/daemon.out" 2>&1 || fail "$name: $(<"$scratch/daemon.out")"
    wait_until 20 mountpoint -q "$mnt" || fail "$name does not mount: $(<"$scratch/daemon.out")"
    connection=$(connection_of "$mnt")
    begun=$(grep -c "connection $connection .*FUSE_INIT" "$instance/trace")
    "$load"
    umount "$mnt"
    wait_until 30 test -s "$profile" || fail "$name: no profile is written"
    wait_until 30 nobody_stays || fail "$name: a process is left beside the daemon"
    traced "$connection" "$begun" >"$scratch/traced"
    profiled_calls "$profile" >"$scratch/profiled"
    assert_eq 0 "$(lost_events)" "trace events lost"
    [ "$(wc -l <"$scratch/traced")" -gt 7 ] || fail "the trace of $name holds next to nothing: $(<"$scratch/traced")"
    diff "$scratch/traced" "$scratch/profiled" >&2 || fail "the profile (>) differs from the kernel's trace (<): $name"
    "$OSPROF" show --check "$profile" >&2 || fail "osprof show --check finds fault: $name"
}

cp -r "$tests_dir/../unit" "$scratch/tree"
mkdir "$scratch/other" "$scratch/upper" "$scratch/work"
try_daemon write_load "$OSPROFFS" "$OSPROFFS" -o profile=/dev/null "$lower" "$mnt"
try_daemon write_load bindfs bindfs "$lower" "$mnt"
try_daemon write_load unionfs unionfs -o cow "$lower=RW:$scratch/other=RO" "$mnt"
try_daemon write_load mergerfs mergerfs "$lower:$scratch/other" "$mnt"
try_daemon write_load fuse-overlayfs fuse-overlayfs -o "lowerdir=$lower,upperdir=$scratch/upper,workdir=$scratch/work" "$mnt"
if have mkfs.ntfs; then
    truncate -s 1G image
    mkfs.ntfs -F -q image >/dev/null 2>&1
    mount_image=$(losetup -f --show image)
    try_daemon write_load ntfs-3g ntfs-3g "$mount_image" "$mnt" # its connection has the number of the disk
    losetup -d "$mount_image"
    mount_image=
fi
truncate -s 0 image
truncate -s 1G image
mkfs.ext4 -q -F image
try_daemon write_load fuse2fs fuse2fs image "$mnt" -o rw
if have mksquashfs; then
    mksquashfs "$scratch/tree" squashed -quiet -no-progress >/dev/null
    try_daemon read_load squashfuse squashfuse squashed "$mnt"
fi

# Instead of ssh, the server's program.
server=$(find /usr/lib/openssh/sftp-server /usr/lib/sftp-server -maxdepth 0 2>/dev/null | head -n 1 || true)
if have sshfs && [ -n "$server" ]; then
    cat >connect <<END
#!/bin/sh
exec "$server"
END
    chmod +x connect
    try_daemon write_load sshfs sshfs -o ssh_command="$PWD/connect" "host:$lower" "$mnt"
fi

# A server of objects.
if have s3fs && have python3; then
    python3 "$tests_dir/s3_server.py" bucket >port &
    server_pid=$!
    wait_until 20 test -s port
    echo name:secret >password
    chmod 600 password
    try_daemon write_load s3fs s3fs bucket "$mnt" \
        -o "url=http://127.0.0.1:$(<port),use_path_request_style,passwd_file=$PWD/password,nomultipart"
fi

[ "${#tried[@]}" -gt 0 ] || skip "no FUSE daemon is installed"
echo "tried: ${tried[*]}" >&2
