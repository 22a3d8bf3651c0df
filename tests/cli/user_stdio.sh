#!/bin/bash
# osprof run --layers user: calls of streams that reach the kernel, with the bytes that went there or came from it, and
# calls of no certain file; what the kernel's own sums say of all that was read and written.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

program=$TEST_PROGRAMS/stdio_calls

# stdio STATUS WHAT...: in an empty directory
stdio() {
    rm -rf "${lower:?}"/*
    user_run "$1" "$program" "${@:2}"
}

bytes() {
    sed -n "s/^# bytes: $1 asked [0-9]* moved //p" "$scratch/profile"
}

# ---- Writing 110,077 bytes with a buffer of 4,096: full 26 times, and the rest when it is closed

seq -f %010.0f 0 10006 >expected
written=$((26 * 4096))
rest=$((10007 * 11 - written))

write() {
    stdio 0 write "$1"
    cmp expected "$lower/out" >&2 || fail "$1 writes something else"
}

for row in fprintf:FPRINTF vfprintf:FPRINTF fprintf_chk:FPRINTF fputc:FPUTC putc:FPUTC putc_unlocked:FPUTC fputs:FPUTS \
    fwrite:FWRITE; do
    write "${row%:*}"
    assert_calls FOPEN=1 "${row#*:}=26" FCLOSE=1
    assert_eq "$written $rest" "$(bytes "${row#*:}") $(bytes FCLOSE)" "bytes of ${row%:*}"
done
write dprintf
assert_calls FOPEN=1 WRITE=10007 FCLOSE=1
assert_eq "$((written + rest))" "$(bytes WRITE)" "bytes of dprintf"
for row in fwprintf:FPRINTF:10007 fputwc:FPUTC:110077; do
    IFS=: read -r way op count <<<"$row"
    write "$way"
    assert_calls FOPEN=1 "$op=$count" FCLOSE=1
    assert_eq "$((written + rest))" "$(($(bytes "$op") + $(bytes FCLOSE)))" "bytes of $way"
done

# ---- The same by functions of standard output: of two flushes the second one has nothing to do

for row in printf:FPRINTF puts:FPUTS putchar:FPUTC; do
    stdio 0 print "${row%:*}"
    cmp expected "$lower/out" >&2 || fail "${row%:*} writes something else"
    assert_calls FOPEN=1 "${row#*:}=26" FFLUSH=1
    assert_eq "$written $rest" "$(bytes "${row#*:}") $(bytes FFLUSH)" "bytes of ${row%:*}"
done

# ---- Reading it: 27 times there is something, then there is not

for row in fgetc:FGETC getc_unlocked:FGETC fgets:FGETS fgets_chk:FGETS getline:FGETS fscanf:FSCANF fread:FREAD \
    fread_chk:FREAD; do
    cp expected "$lower/out"
    user_run 0 "$program" read "${row%:*}"
    assert_calls FOPEN=1 "${row#*:}=28" FCLOSE=1
    assert_eq "$((written + rest))" "$(bytes "${row#*:}")" "bytes of ${row%:*}"
done
user_run 0 "$program" read fread_large
assert_calls FOPEN=1 FREAD=2 FCLOSE=1
assert_eq "$((written + rest))" "$(bytes FREAD)" "bytes of a large fread"
user_run 0 "$program" read fgetwc
assert_calls FOPEN=1 FGETC=110078 FCLOSE=1

# ---- Other buffers, errors, positions

stdio 0 unbuffered
assert_calls FOPEN=1 FPRINTF=7 FPUTC=7 FCLOSE=1
assert_eq "77 7" "$(bytes FPRINTF) $(bytes FPUTC)" "bytes without a buffer"
stdio 0 by_lines
assert_calls FOPEN=1 FPUTS=7 FCLOSE=1
assert_eq "41 1" "$(bytes FPUTS) $(bytes FCLOSE)" "bytes of lines"
stdio 0 no_files
assert_eq "" "$(sed -n '/^OP_/p' "$scratch/profile")" "calls of streams without a file"
cp expected "$lower/out"
user_run 0 "$program" failing
assert_eq "2 1" "$(calls FOPEN) $(calls FPUTS)" "calls that fail"
assert_eq '# failed: FPUTS EBADF 1' "$(grep '^# failed: FPUTS ' "$scratch/profile")" "why they fail"
cp expected "$lower/out"
user_run 0 "$program" seeks
assert_calls FOPEN=1 FGETC=2 FSEEK=4 FCLOSE=1
assert_eq "8192 4096" "$(bytes FGETC) $(bytes FSEEK)" "bytes read by seeking"
user_run 0 "$program" seeks_within
assert_calls FOPEN=1 FGETC=1 FSEEK=22 FCLOSE=1
assert_eq "4096 " "$(bytes FGETC) $(bytes FSEEK)" "bytes of seeks that stay in the buffer"
stdio 0 seeks_writing
assert_calls FOPEN=1 FFLUSH=10 FSEEK=1 FCLOSE=1
assert_eq "10000 " "$(bytes FFLUSH) $(bytes FSEEK)" "bytes written by seeking"
cp expected "$lower/out"
user_run 0 "$program" seeks_writing_reading
assert_calls FOPEN=1 FFLUSH=10 FWRITE=2 FSEEK=1 FCLOSE=1
assert_eq "10000 44541" "$(($(bytes FFLUSH) + $(bytes FWRITE))) $(bytes FSEEK)" "bytes written and read by seeking"
user_run 0 "$program" tells
assert_calls FOPEN=1 FSEEK=1 FCLOSE=1
assert_eq 7 "$(bytes FCLOSE)" "bytes that a question for the position does not write"

# ---- Threads and processes

options='-d . --everything' stdio 0 cancelled
assert_eq "1 1" "$(calls FGETC) $(ended FGETC)" "a thread that was cancelled"
stdio 0 locked
assert_eq firstsecond "$(<"$lower/out")" "what two threads write"
assert_calls FOPEN=1 FSEEK=1 FCLOSE=1
stdio 0 in_threads
[ "$(calls FPUTC)" -ge 20 ] || fail "flushes by threads: $(calls FPUTC)"
stdio 0 pending_forked
assert_eq "pending pending" "$(paste -sd ' ' "$lower/out")" "what a child writes, too"
stdio 0 pending_left
assert_eq "" "$(<"$lower/out")" "what nobody writes"
stdio 137 pending_killed
assert_eq "" "$(<"$lower/out")" "what is lost"

# ---- Calls of no certain file

stdio 0 mappings
assert_eq "0 0 2 0" "$(calls MSYNC) $(calls SYNCFS) $(calls FADVISE) $(calls FFLUSH)" "calls for one directory"
options='' stdio 0 mappings
assert_eq "7 1 4 1" "$(calls MSYNC) $(calls SYNCFS) $(calls FADVISE) $(calls FFLUSH)" "calls for all files"

# ---- The kernel as a witness: seen and kernel are within a part of each other, or not

label() {
    sed -n "s/^# $1: //p" "$scratch/profile"
}

# part NAME WAY: the bytes read, or written
part() {
    label "$1" | grep -o "$2 [0-9]*" | cut -d ' ' -f 2
}

# assert_all_seen READ WRITTEN WHAT
assert_all_seen() {
    local seen kernel way
    [ -n "$(label bytes_kernel)" ] || skip "the kernel does not say what processes read and write"
    assert_eq "read $1 written $2" "$(label bytes_seen)" "bytes seen of $3"
    for way in read written; do
        seen=$(part bytes_seen "$way")
        kernel=$(part bytes_kernel "$way")
        if [ $((kernel * 100)) -lt $((seen * 95)) ] || [ $((kernel * 100)) -gt $((seen * 105 + 10000000)) ]; then
            fail "$3: $seen bytes were seen $way, the kernel says $kernel"
        fi
    done
}

size=4194304
head -c "$size" /dev/zero >"$lower/file"
# shellcheck disable=SC2016 # for sh
user_run 0 sh -c '"$1" pass_on <file' sh "$program" # the output is a file that does not count: it is subtracted
assert_all_seen "$size" 0 "one program"
# shellcheck disable=SC2016 # for sh
user_run 0 sh -c 'cat file | "$1" pass_on | "$1" pass_on | wc -c' sh "$program"
assert_eq "$size" "$(tr -d ' ' <"$scratch/out")" "bytes through pipes"
assert_all_seen "$size" 0 "pipes"
# shellcheck disable=SC2016 # for sh
user_run 0 sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'
assert_all_seen 0 0 "programs that do nothing"
user_run 0 sh -c 'yes | head -c 10000000 | wc -c'
assert_all_seen 0 0 "a program that is killed"
user_run 0 cp file copy
assert_all_seen "$size" "$size" "a copy"
user_run 0 sh -c 'env -i cat file >copy'
for way in read written; do
    [ "$(part bytes_kernel "$way")" -ge "$((size * 9 / 10))" ] || fail "the kernel's sum of a program that was not seen: $(label bytes_kernel)"
done
assert_eq "read 0 written 0" "$(label bytes_seen)" "bytes of a program that was not seen"
# shellcheck disable=SC2016 # for sh
options='-d . --warmup 2 --repeat 3' user_run 0 sh -c '"$1" pass_on <file' sh "$program"
assert_all_seen "$((3 * size))" 0 "three runs after two others"
