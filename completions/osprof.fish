# fish completion for osprof(1). Commands, options and what these take come from "osprof --complete", as in completions/osprof.

# The operations of the profile on the command line, or of the last one that is kept: text profiles only.
function __osprof_ops
    set -l state $HOME/.local/state
    set -q XDG_STATE_HOME; and set state $XDG_STATE_HOME
    set -l profile $state/osprof/*.osprof
    count $profile >/dev/null; and set profile $profile[-1]; or set profile /dev/null
    for word in (commandline -opc)[3..]
        string match -q -- '-*' $word; or not test -f $word; or set profile $word
    end
    test -f "$profile"; and string replace -rf '^OP_(\S+) .*' '$1' <$profile
end

set -g __osprof_completions (status dirname)

# Where osproffs is mounted now.
function __osprof_mounts
    test -r /proc/self/mounts; or return
    for line in (string match -r '^\S+ \S+ fuse\.osproffs ' </proc/self/mounts)
        string replace -ra '\\\\(\d{3})' '\\\\$1' -- (string split ' ' -- $line)[2] | string unescape
    end
end

# Results that osprof run has kept: @1, @2.
function __osprof_kept
    set -l words (commandline -opc)
    string replace -r ' .*' '' -- ($words[1] show --list 2>/dev/null)
end

# Control groups of version 2, by their names below its mount.
function __osprof_cgroups
    for line in (string match -r '^\S+ \S+ cgroup2 ' </proc/self/mounts)
        find (string split ' ' -- $line)[2] -mindepth 1 -type d -printf '%P\n' 2>/dev/null
    end
end

# Options of osproffs, by its own completion.
function __osprof_mount_options
    functions -q __osproffs_list; or source $__osprof_completions/osproffs.fish
    set -l osproffs osproffs
    set -q OSPROFFS; and set osproffs $OSPROFFS
    __osproffs_list "$argv[1]" ($osproffs --complete 2>/dev/null)
end

# __osprof_argument CURRENT KIND [WORD]...
function __osprof_argument
    switch "$argv[2]"
        case word
            string join \n -- $argv[3..]
        case list
            set -l before (string match -r -- '^.*\+' $argv[1])
            string replace -r '^' -- "$before" $argv[3..]
        case op
            __osprof_ops
        case directory
            __fish_complete_directories $argv[1] ''
        case command
            __fish_complete_command
        case profile
            __osprof_kept
            __osprof_mounts
            __fish_complete_path $argv[1]
        case mount
            __osprof_mounts
            __fish_complete_path $argv[1]
        case options
            __osprof_mount_options $argv[1]
        case process
            __fish_complete_pids
        case cgroup
            __osprof_cgroups
        case user
            __fish_complete_users
        case file
            __fish_complete_path $argv[1]
    end
end

# __osprof_kind NAME LINE...: what comes after that word, if it is an option that takes something, else nothing
function __osprof_kind
    for line in $argv[2..]
        set -l parts (string split ' ' -- $line)
        if test "$parts[1]" = "$argv[1]"; and test "$parts[2]" != flag
            string join \n -- $parts[2..]
        end
    end
end

# The place, among the caller's $words, at which a command of its own begins, as "osprof run" has one; nothing if none does
function __osprof_command_at --no-scope-shadowing
    contains -- '* command' $table; or return
    set -l place 3
    while test $place -le (count $words)
        set -l word $words[$place]
        if test "$word" = --
            math $place + 1
            return
        else if not string match -q -- '-*' $word
            echo $place
            return
        else if test (count (__osprof_kind $word $table)) -gt 0
            set place (math $place + 1)
        end
        set place (math $place + 1)
    end
end

# __osprof_control WORD...: what osprof ctl takes behind the mount: a command, and what that takes
function __osprof_control
    if test (count $argv) -eq 1
        echo word
        string join \n -- reset pause resume groups slow interval joint events dump rotate
    else if test "$argv[2]" = events
        echo file
    else if contains -- "$argv[2]" groups slow interval joint
        string join \n -- word off
    end
end

function __osprof_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l osprof $words[1]
    if test (count $words) -eq 1; or test "$words[2]" = help
        $osprof --complete
        test (count $words) -gt 1; or string join \n -- help --help --version
        return
    end
    # Of a command that has commands of its own, the second word is one of these.
    set -l table ($osprof --complete $words[2..3] 2>/dev/null)
    set -l command_at (__osprof_command_at)
    if test -n "$command_at"; and test $command_at -le (count $words)
        complete -C (string join ' ' -- (string escape -- $words[$command_at..]) "$current")
        return
    end
    set -l operands (string match -v -- '-*' $words[3..])
    if test "$words[2]" = ctl; and test (count $operands) -gt 0
        __osprof_argument "$current" (__osprof_control $operands)
        return
    end
    set -l kind (__osprof_kind $words[-1] $table)
    if test -n "$kind"
        __osprof_argument $current $kind
    else if string match -q -- '--*=*' $current
        set -l parts (string split -m 1 = -- $current)
        __osprof_argument "$parts[2]" (__osprof_kind $parts[1] $table) | string replace -r '^' -- "$parts[1]="
    else if string match -q -- '-*' $current
        string match -r -- '^--\S+' $table
    else
        __osprof_argument $current (__osprof_kind '*' $table)
    end
end

complete -c osprof -f -a '(__osprof_complete)'
