#!/bin/bash
# Control groups of containers have the containers' names in osprof attach, and --cgroup finds them by these.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$(dirname "$0")/attach_lib.sh"

need_root
need_part containers

group=
before_cleanup() {
    kill_watchers
    [ -z "$group" ] || find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
}

root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
[ -n "$root" ] || skip "no control groups of version 2 are mounted"
name=osproffs-test-$$.slice
group=$root/$name
mkdir "$group" 2>/dev/null || { group= && skip "no control group can be made"; }

# id DIGITS: 64, of which these are the first six; of no other container
id() {
    printf '%s%06x%052d\n' "$1" $$ 0
}
web=$(id 3f2a9c)
nameless=$(id 0a0b0c)
first=$(id 111111)
second=$(id 222222)
hostile=$(id bad0ba)
mkdir "$group/docker-$web.scope" "$group/docker-$web.scope/inner" "$group/libpod-$nameless.scope" "$group/docker-$first.scope" \
    "$group/docker-$second.scope" "$group/docker-$hostile.scope" "$group/plain.scope" "$group/given" "$group/given/docker-$web.scope"
chown "$user_uid" "$group/given"

# in a mount namespace, in which /var/lib has made-up files of docker
containers=$scratch/lib/docker/containers
mkdir -p "$containers/$web" "$containers/$first" "$containers/$second" "$containers/$hostile"
echo "{\"ID\": \"x\", \"Name\": \"/osproffs-web-$$\"}" >"$containers/$web/config.v2.json"
echo "{\"ID\": \"x\", \"Name\": \"/osproffs-twin-$$\"}" | tee "$containers/$first/config.v2.json" >"$containers/$second/config.v2.json"
mkfifo "$containers/$hostile/config.v2.json"
cat >there <<'END_OF_SCRIPT'
#!/bin/sh
mount --bind "$LIB" /var/lib && exec "$OSPROF_OF_TEST" "$@"
END_OF_SCRIPT
chmod +x there
unshare -m true 2>/dev/null || skip "no mount namespace can be made"
unshare -m mount --bind "$scratch/lib" /var/lib 2>/dev/null || skip "nothing can be mounted over /var/lib"
export OSPROF_OF_TEST=$OSPROF LIB=$scratch/lib

there() {
    unshare -m "$scratch/there" "$@"
}

# calls_in GROUP COUNT: so many writes to a file, by a process of the group
calls_in() {
    # shellcheck disable=SC2016 # for the shell inside
    sh -c 'echo $$ >"$1/cgroup.procs" && exec dd if=/dev/zero of="$3" bs=10 count="$2" status=none' sh "$1" "$2" "$scratch/fs/file"
}

# watched ARGUMENT...: when it counts
watched() {
    rm -f err out
    unshare -m "$scratch/there" attach -o profile "$@" >out 2>err &
    watcher=$!
    wait_until 60 has_begun || fail "it does not begin"
    grep -q 'are counted ' err || {
        grep -Eq 'no tracepoint|vmlinux is missing' err && skip "$(<err)"
        fail "not attached: $(<err)"
    }
}

# calls_of NAME: WRITEs of that group
calls_of() {
    expect 0 show --by cgroup --of "$1" profile
    awk '$1 == "WRITE" { print $2 }' out
}

mkdir fs
mount -t tmpfs tmpfs fs

# ---- Names in profiles

watched fs
calls_in "$group/docker-$web.scope" 7
calls_in "$group/docker-$web.scope/inner" 4
calls_in "$group/libpod-$nameless.scope" 5
calls_in "$group/docker-$hostile.scope" 3
calls_in "$group/plain.scope" 2
calls_in "$group/given/docker-$web.scope" 13
kill -INT "$watcher"
ended 0
assert_eq 11 "$(calls_of "osproffs-web-$$ (docker ${web:0:12})")" "WRITEs in the container, and in a group inside it"
assert_eq 5 "$(calls_of "podman ${nameless:0:12}")" "WRITEs in a container without a name"
assert_eq 3 "$(calls_of "docker ${hostile:0:12}")" "WRITEs in a container with a FIFO for a file"
assert_eq 2 "$(calls_of "/$name/plain.scope")" "WRITEs in a group that is no container"
assert_eq 13 "$(calls_of "/$name/given/docker-$web.scope")" "WRITEs in a group of another user's that is called like a container"

# ---- Finding a container

for given in "osproffs-web-$$" "${web:0:12}" "$web"; do
    watched --cgroup "$given"
    assert_eq "osprof: calls of control group /$name/docker-$web.scope on all file systems are counted until Ctrl-C; meanwhile: osprof show $group/docker-$web.scope" \
        "$(<err)" "what is counted"
    calls_in "$group/docker-$web.scope/inner" 7
    calls_in "$group/plain.scope" 2
    kill -INT "$watcher"
    ended 0
    assert_eq 7 "$(calls WRITE profile)" "WRITEs of the container, given as $given"
done
assert_refused "there is no control group osproffs-web below $root" there attach --for 5s --cgroup osproffs-web
assert_refused "there is no control group ${web:0:11} below $root" there attach --for 5s --cgroup "${web:0:11}"
assert_refused "there is no control group osproffs-web-$$ below $root" "$OSPROF" attach --for 5s --cgroup osproffs-web-$$
there attach --for 5s --cgroup osproffs-twin-$$ 2>err && fail "one of two containers is chosen"
grep -Eq "^osprof: there are 2 control groups of the name osproffs-twin-$$: /$name/docker-(1{6}|2{6})[0-9a-f]{58}\.scope, /$name/docker-(1{6}|2{6})[0-9a-f]{58}\.scope; name one by its path$" err ||
    fail "which one is not asked: $(<err)"
