# Asks zsh's completion as its line editor does: complete.zsh COMPLETIONS PROGRAMS LINE... prints what is offered at the
# end of each line, a line of answers for each, sorted. COMPLETIONS: the folder of _osprof; PROGRAMS: one to find osprof in
zmodload zsh/zpty || exit 1
completions=$1 programs=$2
shift 2
answers=$(mktemp) || exit 1
trap 'rm -f -- $answers' EXIT

# The inner shell writes matches instead of showing them, and a last line when there are no more.
zpty inner "PATH=$programs:\$PATH PS1= TERM=dumb zsh -f -i"
setup='
    unsetopt zle_bracketed_paste 2>/dev/null
    fpath=('${(q)completions}' $fpath)
    autoload -Uz compinit && compinit -u -D
    zstyle ":completion:*" accept-exact-dirs false
    compadd() {
        local -a hits
        if [[ -n ${*[(r)-[ODA]]} ]]; then
            builtin compadd "$@"
            return
        fi
        builtin compadd -O hits "$@"
        [[ ${#hits} -eq 0 ]] || print -rl -- $hits >>'${(q)answers}'
        builtin compadd "$@"
    }
    ask() {
        _main_complete
        print -r -- "(end)" >>'${(q)answers}'
        compstate[insert]= compstate[list]=
    }
    zle -C ask list-choices ask
    bindkey "^G" ask
    bindkey "^U" kill-buffer
    print -r -- "(end)" >>'${(q)answers}

wait_for_answer() {
    local -F deadline=$((SECONDS + 20))
    local text
    while ((SECONDS < deadline)); do
        zpty -r -t inner text # what it prints must not fill its terminal
        [[ "$(tail -n 1 $answers)" == '(end)' ]] && return
        sleep 0.02
    done
    print -u2 "zsh does not answer: $1"
    exit 1
}

typeset -F SECONDS
inner_setup=$(mktemp) || exit 1
print -r -- $setup >$inner_setup
zpty -w inner "source $inner_setup"
wait_for_answer 'its set-up'
rm -f -- $inner_setup
for line; do
    : >$answers
    zpty -w -n inner "$line"$'\a'
    wait_for_answer $line
    sed '$d' $answers | sort -u | paste -sd ' '
    zpty -w -n inner $'\C-U'
done
zpty -d inner
