#!/bin/bash
# The command lines of osprof in README, documents and manual pages are such as it takes: each is parsed, and not carried out.
. "$(dirname "$0")/lib.sh"

source=$tests_dir/../..
mapfile -t files < <(find "$source/README.md" "$source/python/README.md" "$source/docs" "$source/man" \( -name '*.md' -o -name '*.[1578]' \) | sort)
python3 "$tests_dir/../cli/documented.py" "$OSPROF" "${files[@]}" >refused 2>count || fail "refused: $(<refused) $(<count)"
grep -qE '^[1-9][0-9]{2,} command lines, 0 refused$' count || fail "too few are found: $(<count)"

# One that is wrong is found, in a document and in a manual page.
# shellcheck disable=SC2016 # of Markdown
printf '    $ osprof show --no-such-option @1\n\nIt is `osprof merge a b`, or `osprof run -q -- true`.\n' >wrong.md
! python3 "$tests_dir/../cli/documented.py" "$OSPROF" wrong.md >refused 2>count || fail "wrong command lines pass"
assert_eq "wrong.md:1 wrong.md:3 3 command lines, 2 refused" "$(cut -d: -f1,2 refused | tr '\n' ' ')$(<count)" "what is refused"
printf '.Bd -literal\n$ osprof attach \\-\\-slow 10 /srv\n.Ed\n' >wrong.1
! python3 "$tests_dir/../cli/documented.py" "$OSPROF" wrong.1 >refused 2>count || fail "a wrong value passes"
