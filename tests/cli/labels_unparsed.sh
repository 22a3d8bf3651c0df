#!/bin/bash
# Values of labels are shown and compared, and nothing of ours takes them apart: names may be any. What is a number, or one of
# several words, is a fact (src/aggstats/profile/facts.c).
. "$(dirname "$0")/lib.sh"

need perl

# parsers FILE...: where a value of a label is taken apart, "FILE: EXPRESSION"
cat >parsers.pl <<'END'
my $takes_apart = qr/\b(?:strstr|strcasestr|sscanf|strto\w+|ato\w+|fnmatch|regexec|strncmp|strncasecmp|strndup|strcspn|strchr|strrchr|strpbrk|strsep|parse_\w+|\w+_parse)/;
my $in_python = qr/split|partition|startswith|endswith|find|index|strip|replace|match|search/;
while (my $file = shift) {
    open my $stream, '<', $file or die "$file: $!";
    local $/;
    my $text = <$stream>;
    for my $function (split /^(?=[a-z].*\{$|    def |def )/m, $text) {
        my @names = $function =~ /\b(\w+) = (?:\w+ \? )?(?:aggstats_profile_label\(|[\w.]*labels(?:\.get\(|\[))/g;
        my $value = join '|', 'aggstats_profile_label\([^()]*\)', 'labels?(?:\[\w+\])?(?:->|\.)value', '[\w.]*labels(?:\.get\([^()]*\)|\["[^"]*"\])', @names;
        print "$file: $1\n" while $function =~ /($takes_apart\s*\(\s*&?(?:$value)(?!\w)[^;]*)/g;
        print "$file: $1\n" while $file =~ /\.py$/ and $function =~ /((?:$value)\.(?:$in_python)\(|(?:int|float|re\.\w+)\((?:[^()]*, )?(?:$value)\))/g;
    }
}
END
parsers() {
    perl parsers.pl "$@"
}

# It finds them.
cat >parsing.c <<'END'
static int parse(const struct aggstats_profile *profile) {
    const char *text = aggstats_profile_label(profile, "page_faults");
    return text ? atoi(text) : 0;
}
static bool has(const struct aggstats_label *label) {
    return strstr(label->value, "io_uring") || strcmp(label->value, "yes") == 0;
}
static bool is(const struct aggstats_profile *profile) {
    return strncmp(aggstats_profile_label(profile, "data"), "pass", 4) == 0;
}
END
cat >parsing.py <<'END'
def faults(profile):
    text = profile.labels.get("page_faults")
    return int(text), profile.labels["host"].split(", ")
def host(profile):
    return profile.labels["host"] == "node1"
END
assert_eq 5 "$(parsers parsing.c parsing.py | wc -l)" "parsers in the examples"

root=$tests_dir/../..
mapfile -t sources < <(find "$root/src" -name '*.c' ! -name merging.c)
[ "${#sources[@]}" -ge 300 ] || fail "few sources: ${#sources[@]}"
assert_eq "" "$(parsers "${sources[@]}" "$root"/python/osprof/*.py)" "values of labels that are taken apart"
