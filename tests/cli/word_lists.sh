#!/bin/bash
# Lists of words that options take and profiles have: what cannot be made from the tables of the programs is held to them,
# so that a word that is added to a table is missed wherever else it must stand.
. "$(dirname "$0")/lib.sh"

man=$tests_dir/../../man
schema=$tests_dir/../../docs/profile.schema.json

# item PAGE OPTION: that option's item in a manual page, up to the next option's
item() {
    awk -v option="$2" '/^\.It .*Fl / { is_in = $0 ~ "Fl (o Cm )?-?" option "( |$)" } is_in' "$man/$1"
}

# expect_words WHERE WORD...: each is a word of standard input
expect_words() {
    local where=$1 text word
    shift
    text=$(tr -cs 'A-Za-z0-9_' '\n')
    [ -n "$text" ] || fail "nothing in $where"
    for word; do
        grep -qx -e "$word" <<<"$text" || fail "$where does not have '$word'"
    done
}

# words PROGRAM OPTION [ARGUMENT]...: what an option takes, by the program's table
words() {
    local program=$1 option=$2
    shift 2
    "$program" --complete "$@" | sed -n "s/^$option \(word\|list\) //p"
}

# ---- Each option that takes words: its manual page and, of osproffs, its help
"$OSPROFFS" --complete | sed -n 's/^\([a-z_]*\)= \(word\|list\) /\1 /p' >options
[ "$(wc -l <options)" -ge 6 ] || fail "few options with words: $(<options)"
"$OSPROFFS" -h >help
while read -r option words; do
    # shellcheck disable=SC2086
    item osproffs.1 "$option" | expect_words "$option= in osproffs(1)" $words
    # shellcheck disable=SC2086
    sed -n "/^    -o $option=/,/^    -[^-]*[a-z]=/p" help | expect_words "$option= in osproffs -h" ${words#none }
done <options

# ---- Defaults: those of osproffs's help, in parentheses, are those of its manual page
sed -n 's/^    -o \([a-z_]*\)=.* (\([A-Za-z0-9.]*\)).*/\1 \2/p' help >defaults
[ "$(wc -l <defaults)" -ge 9 ] || fail "few defaults in osproffs -h: $(<defaults)"
while read -r option default; do
    item osproffs.1 "$option" | sed 's/^\.[A-Z][a-z] //' | paste -sd ' ' | grep -qE "Default: ${default//./\\.}([ .]|$)" ||
        fail "osproffs(1) does not say that the default of $option is $default"
done <defaults

for command in $("$OSPROF" --complete); do
    "$OSPROF" --complete "$command" | sed -n 's/^--\([a-z-]*\) word /\1 /p' >options
    while read -r option words; do
        case $command:$option in
        *:layer) continue ;;    # layers of recordings are in osprof(5)
        outliers:by) continue ;; # of any labels, what shells offer first
        esac
        # shellcheck disable=SC2086
        item "osprof-$command.1" "$option" | expect_words "--$option in osprof-$command(1)" $words
    done <options
done
read -ra words <<<"$(words "$OSPROF" --by events profile)"
item osprof-events.1 by | expect_words "--by in osprof-events(1)" "${words[@]}"

# ---- What profiles are grouped by
read -ra groupings <<<"$(words "$OSPROF" --by show | sed "s/^all //")"
[ "${#groupings[@]}" -ge 6 ] || fail "few groupings: ${groupings[*]}"
sorted() {
    printf '%s\n' "$@" | sort | paste -sd ' '
}
read -ra stated <<<"$(sed -n 's/.*"grouping": {"enum": \[\(.*\)\]}.*/\1/p' "$schema" | tr -d '",')"
assert_eq "$(sorted "${groupings[@]}")" "$(sorted "${stated[@]}")" "groupings of the JSON schema"
read -ra stated <<<"$(sed -n 's/^kind *= //p' "$man/osprof.5" | tr -d '"|')"
assert_eq "$(sorted "${groupings[@]}")" "$(sorted "${stated[@]}")" "groupings in osprof(5)"

# ---- Layers
read -ra layers <<<"$(words "$OSPROF" --layer show)"
[ "${#layers[@]}" -ge 6 ] || fail "few layers: ${layers[*]}"
order=$(sed -n 's/^writes the outermost layer first: \(.*\)\.$/\1/p' "$man/osprof.5")
assert_eq "${layers[*]}" "${order//,/}" "layers in osprof(5)"

# ---- Keys that are taken: no label may have one
sed -n '/^\.Ss Header/,/^\.Ss /p' "$man/osprof.5" |
    sed -n '/^\.It /{ s/^\.It //; s/^Xo //; s/^Cm \([a-z_, ]*\).*/\1/p; }' | tr -s ' ,' '\n' | sed '/^$/d' >keys
[ "$(wc -l <keys)" -ge 25 ] || fail "few keys in osprof(5): $(paste -sd ' ' keys)"
printf '%s\n' "${groupings[@]}" >>keys
# ... and those that programs write or read, wherever that is
find "$tests_dir/../../src" -name '*.[ch]' -exec perl -0777 -ne '
    while (/\w*(?:add_label|profile_label|add_name)\(\s*[^,;]+,\s*([^,;]*?)\s*[,)]|\badd\(\w*labels,\s*("\w+")/g) {
        my $key = $1 // $2;
        print "$1\n" while $key =~ /"([a-z][a-z_]*[a-z])"/g;
    }
    print "$1\n" while /\.key = \(char\[\]\)\{"([a-z_]+)"\},/g;
    print "$1\n" while /\{"([a-z_]+)", header->/g;
    print "$1\n" while /#define \w*LABEL\w* "([a-z][a-z_]*[a-z])"/g' {} + | sort -u >written
[ "$(wc -l <written)" -ge 25 ] || fail "few keys in the sources: $(paste -sd ' ' written)"
for key in host fstype disk_place cost workers io_uring; do
    grep -qx "$key" written || fail "the key $key is not found in the sources"
done
cat written >>keys
while read -r key; do
    ! "$OSPROFFS" -o "label=$key=1" 2>err || fail "a label $key is taken"
    assert_eq "osproffs: label=$key=1: profiles have a header line of this name already; choose another key" "$(<err)" \
        "label of the name of a header line"
done <keys

# ---- Classes of causes, and the fields of links
grep -oE '\] = "[a-z_]+"' "$tests_dir/../../src/aggstats/profile/why.c" | cut -d'"' -f2 >classes
# shellcheck disable=SC2016 # the name of a member
PYTHONPATH=$tests_dir/../../python python3 -c '
import json, sys
from osprof import text_calls
classes = open("classes").read().split()
profile, waits = (json.load(open(name))["$defs"] for name in sys.argv[1:])
assert len(classes) > 20 and classes == text_calls._CLASSES, (classes, text_calls._CLASSES)
assert profile["cause_class"]["enum"] == classes, profile["cause_class"]
for name in ("cause_class", "cause_id", "link"):
    assert profile[name] == waits[name], name
' "$schema" "$tests_dir/../../docs/waits.schema.json" || fail "classes of causes: $(<classes)"
# shellcheck disable=SC2046
sed -n '/^# classes are/,/^#     other/p' "$tests_dir/../../share/osproffs/causes" |
    expect_words share/osproffs/causes $(grep -vxE 'unknown|rest|running|function' classes)
