# shellcheck shell=bash
# What a shell that completes whole lines must offer: a test sources this and has expect_offers LINE EXPECTED, which asks
# the shell and compares. An order is not promised; a shell whose answers are whole words passes them on without what the
# line has already, and without the "/" of directories.

# shellcheck source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2034,SC2154 # for those that source this; set by the harness
completions=$(realpath -- "$tests_dir/../../completions")

# The programs under their names, as the shells look for them.
mkdir programs
ln -s "$OSPROF" programs/osprof
ln -s "$OSPROFFS" programs/osproffs

# Where osproffs is mounted is offered by name. No file is: its name begins with a dot.
mkdir -p place/.mount
mount_offered=
if ! fuse_missing >/dev/null; then
    mount_osproffs "$lower" "$PWD/place/.mount"
    mount_offered=$PWD/place/.mount
fi

expect_all_offers() {
    local command
    keep_result "$data/show-grep.osprof"
    cp "$data/show-bare.osprof" bare.osprof
    expect_offers "osprof re" "report"
    expect_offers "osprof c" "compare ctl"
    expect_offers "osprof help s" "save serve show"
    expect_offers "osprof help al" ""
    expect_offers "osprof --" "--help --version"
    expect_offers "osprof save --o" "--output"
    expect_offers "osprof show --width " ""
    expect_offers "osprof compare --method G" "GROUPLAT GROUPOPS"
    expect_offers "osprof compare --method=E" "EARTHMOVER"
    expect_offers "osprof show --op READ" "READ READDIR READDIRPLUS"
    expect_offers "osprof show --op=READDIR" "READDIR READDIRPLUS"
    expect_offers "osprof show bare.osprof --op " "WRITE_SUPER"
    expect_offers "osprof show ba" "bare.osprof"
    expect_offers "osprof show @" "@1"
    expect_offers "osprof show --check bare.osprof @" "@1"
    expect_offers "osprof save bare.osprof @" "@1"
    expect_offers "osprof save --r" "--remove --rotate"
    expect_offers "osprof ctl @" ""
    expect_offers "osprof ctl lo" "lower"
    expect_offers "osprof ctl --force lo" "lower"
    expect_offers "osprof ctl mnt re" "reset resume"
    expect_offers "osprof ctl --force mnt ev" "events"
    expect_offers "osprof ctl mnt events ba" "bare.osprof"
    expect_offers "osprof ctl mnt groups " "off"
    expect_offers "osprof ctl mnt reset " ""
    expect_offers "osprof doctor --calibrate lo" "lower"
    expect_offers "osprof run -d lo" "lower"
    expect_offers "osprof run -o mn" "mnt"
    expect_offers "osprof run --directory lo" "lower"
    expect_offers "osprof run sha256su" "sha256sum"
    expect_offers "osprof run -- sha256su" "sha256sum"
    expect_offers "osprof run -d lower sha256sum lo" "lower"
    expect_offers "osprof run --vs sha256su" "sha256sum"
    expect_offers "osprof run --mount-option c" "cache= causes= control="
    expect_offers "osprof run --mount-option cache=none,res" "resolution="
    expect_offers "osprof run -d lower --by process+f" "file filesystem"
    expect_offers "osprof run -d lower --mount-option by=process+f" "file"
    expect_offers "osprof run --mount-option cache=none -d lo" "lower"
    expect_offers "osprof unmount $PWD/place/" "$mount_offered"
    expect_offers "osprof show $PWD/place/" "$mount_offered"
    expect_offers "osprof attach --by n" "none"
    expect_offers "osprof events profile --by pro" "process program"
    expect_offers "osprof events profile --by file+prog" "program"
    expect_offers "osprof events profile --by=file+u" "uid"
    expect_offers "osprof events ex" "export"
    expect_offers "osprof events export --format " "chrome csv perfetto"
    expect_offers "osprof events profile --sp" "--span"
    expect_offers "osprof events show ba" "bare.osprof"
    expect_offers "osprof nonsense --" ""
    for command in $("$OSPROF" --complete); do
        expect_offers "osprof $command --" \
            "$("$OSPROF" --complete "$command" | sed -n 's/^\(--[^ ]*\) .*/\1/p' | sort | paste -sd ' ')"
    done

    expect_offers "osproffs lo" "lower"
    expect_offers "osproffs -o cache=none lo" "lower"
    expect_offers "osproffs lower mn" "mnt"
    expect_offers "osproffs --" "--help --version"
    expect_offers "osproffs -o c" "cache= causes= control="
    expect_offers "osproffs -o cache=" "always auto none"
    expect_offers "osproffs -o cache=none,res" "resolution="
    expect_offers "osproffs -o cache=none,resolution=" "1 2 4 8"
    expect_offers "osproffs -o noatime,nod" "nodiratime"
    expect_offers "osproffs -o by=process+f" "file"
    expect_offers "osproffs -o by=process,cache=n" "none"
    expect_offers "osproffs -o profile=ba" "bare.osprof"
    expect_offers "osproffs -o live=no" "none"
    expect_offers "osproffs -o live=lo" "lower"
    expect_offers "osproffs -o label=" ""
    expect_offers "osproffs -o " "$("$OSPROFFS" --complete | sed '/^[*-]/d; s/ .*//' | sort | paste -sd ' ')"
}
