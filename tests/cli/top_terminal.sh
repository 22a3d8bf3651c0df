#!/bin/bash
# Helpers for tests of osprof top on the screen of a real terminal, which tmux is.

# shellcheck disable=SC2154 # scratch: of lib.sh

need_part top
need tmux

# start_terminal: an interactive shell in one, 80 x 24, in which `drive` runs osprof top and notes what it left behind
start_terminal() {
    cat >drive <<'DRIVE'
stty -g >modes-before
bash -c 'echo $$ >top.pid; exec "$OSPROF" top "$@"' - "$@" 2>messages
echo "status $?"
stty -g >modes-after
DRIVE
    tmux -S "$scratch/tmux" -f /dev/null new-session -d -x 80 -y 24 'exec env PS1="ready> " bash --noprofile --norc -i'
    wait_shows '^ready>'
}

# What the terminal shows now, without blanks at the ends of lines.
shown() {
    tmux -S "$scratch/tmux" capture-pane -p
}

shows() {
    shown | grep -Eq -- "$1"
}

wait_shows() {
    wait_until 30 shows "$1" || {
        shown >&2
        fail "the terminal does not show $1"
    }
}

shows_not() {
    ! shows "$1"
}

shows_no_more() {
    wait_until 30 shows_not "$1"
}

# keys KEY...: as `tmux send-keys` names them
keys() {
    tmux -S "$scratch/tmux" send-keys "$@"
}

# ended STATUS: osprof top has ended with it, and the terminal is as before
ended() {
    wait_shows "^status $1\$"
    wait_until 30 test -s modes-after || fail "nothing was noted after the end"
    cmp modes-before modes-after || fail "the terminal's modes were not restored"
    ! shows 'operation' || fail "the page was left on the screen"
    [ ! -s messages ] || fail "complains: $(<messages)"
}

resize() {
    tmux -S "$scratch/tmux" resize-window -x "$1" -y "$2"
}

end_terminal() {
    tmux -S "$scratch/tmux" kill-server 2>/dev/null
}
