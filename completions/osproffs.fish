# fish completion for osproffs(1). Options and what these take come from "osproffs --complete", as in completions/osproffs.

# __osproffs_value OPTION CURRENT LINE...: what may follow "OPTION="
function __osproffs_value
    set -l takes
    for line in $argv[3..]
        string match -q -- "$argv[1]= *" $line; and set takes (string split ' ' -- $line)[2..]
    end
    switch "$takes[1]"
        case word
            string join \n -- $takes[2..]
        case list
            set -l before (string match -r -- '^.*\+' $argv[2])
            string replace -r '^' -- "$before" $takes[2..]
        case file
            __fish_complete_path $argv[2]
        case directory
            string join \n -- $takes[2..]
            __fish_complete_directories $argv[2] ''
    end
end

# __osproffs_list CURRENT LINE...: the part behind the last comma of an option list, with the part before it
function __osproffs_list
    set -l before (string match -r -- '^.*,' $argv[1])
    set -l last (string replace -r -- '^.*,' '' $argv[1])
    set -l parts (string split -m 1 = -- $last)
    if test (count $parts) -eq 2
        __osproffs_value $parts[1] "$parts[2]" $argv[2..] | string replace -r '^' -- "$before$parts[1]="
    else
        string match -r -- '^[^-* ]\S*' $argv[2..] | string replace -r '^' -- "$before"
    end
end

function __osproffs_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l table ($words[1] --complete 2>/dev/null)
    if test "$words[-1]" = -o
        __osproffs_list "$current" $table
    else if string match -q -- '-*' $current
        string match -r -- '^-\S*' $table
    else
        __fish_complete_directories $current ''
    end
end

complete -c osproffs -f -a '(__osproffs_complete)'
