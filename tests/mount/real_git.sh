#!/bin/bash
# A repository lives its life in the mount: commits, branches, merge, clone, repacking; fsck is content with it there
# and below.
. "$(dirname "$0")/lib.sh"
need git

git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
git config --global advice.detachedHead false
git config --global protocol.file.allow always
git config --global gc.auto 0

commit_all() {
    git add --all
    git commit --quiet --message "$1"
}

make_history() {
    local number
    git init --quiet "$mnt/origin"
    cd "$mnt/origin"
    cp -R "$tests_dir/../../src" .
    commit_all "import"
    for number in $(seq 1 13); do
        echo "line $number" >>log
        git mv -f src "src.$number" && git mv "src.$number" src
        commit_all "change $number"
    done
    git checkout --quiet -b topic HEAD~5
    echo topic >topic
    commit_all "topic"
    git checkout --quiet main
    git merge --quiet --no-edit topic
    git stash list
    cd "$scratch"
}

clone_and_repack() {
    git clone --quiet --no-local "$mnt/origin" "$mnt/clone"
    git clone --quiet --local "$mnt/origin" "$mnt/linked" # hard links
    git -C "$mnt/clone" gc --quiet --aggressive --prune=now
    git -C "$mnt/origin" gc --quiet --prune=now
    git -C "$mnt/clone" checkout --quiet HEAD~11
    git -C "$mnt/clone" checkout --quiet main
}

assert_sound() {
    local repository
    for repository in origin clone linked; do
        git -C "$1/$repository" fsck --full --strict --no-progress
        assert_eq "" "$(git -C "$1/$repository" status --porcelain)" "changes in $1/$repository"
        assert_eq 16 "$(git -C "$1/$repository" rev-list --count main)" "commits in $1/$repository"
    done
}

mount_osproffs "$lower" "$mnt"
make_history
clone_and_repack
assert_sound "$mnt"
assert_same_view "$lower" "$mnt"
unmount_osproffs "$mnt"
assert_profiled LOOKUP CREATE WRITE READ RENAME LINK UNLINK MKDIR
assert_sound "$lower"
