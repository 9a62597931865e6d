#!/bin/sh
# Asks codesearch to bring its index up to date, in the background. Written by `codesearch hook install`.
#
#   . hook.sh                      in a git hook: leaves a request, starts a worker if none is alive, ends at once
#   sh hook.sh [staged]            the same from anywhere else at the top of a work tree
#   sh hook.sh work GIT_DIR ROOT   the worker: waits until git is at rest, indexes, until no request is left
#
# A rebase runs a hook for each of its commits. So the part that runs inside git starts no process while a worker is
# alive, but reads and tests files; the worker waits for the end of the rebase and indexes once. Even to start `sh` for
# each commit costs half as much as the rebase itself, so post-commit is put away meanwhile (see `park`).
# Variables are ours to use: a hook sources this in a subshell, with its streams at /dev/null.

python=@PYTHON@
main=@MAIN@
patience=600 # seconds that a worker waits for the end of a rebase; a later hook starts another one

boot= # a process id means something until the next start of the machine only
read -r boot </proc/sys/kernel/random/boot_id

alive() {
  read -r worker started <"$state/worker" && [ "$started" = "$boot" ] && kill -0 "$worker"
}

# --- inside git ---------------------------------------------------------------------------------------------

ask() {
  git_dir=${GIT_DIR:-.git}
  if [ -f "$git_dir" ]; then # in a linked worktree and in a submodule: `gitdir: PATH`
    IFS= read -r line <"$git_dir"
    git_dir=${line#gitdir: }
  fi
  case $git_dir in /*) ;; *) git_dir=$PWD/$git_dir ;; esac
  [ -e "$git_dir/HEAD" ] || return
  state=$git_dir/codesearch-hook
  [ -d "$state" ] || mkdir "$state" || return
  if [ "${1-}" = staged ]; then
    # `git commit -a` and `git commit FILE` keep what they commit in an index of their own.
    index=${GIT_INDEX_FILE:-$git_dir/index}
    case $index in /*) ;; *) index=$PWD/$index ;; esac
    printf '%s\n' "$index" >"$state/staged" || return
  else
    printf '' >"$state/request" || return
  fi
  park
  alive || start
}

start() {
  detach=
  for each in setsid nohup; do
    if command -v "$each"; then detach=$each && break; fi
  done
  $detach sh "$codesearch_hook" work "$git_dir" "$PWD" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
}

# Takes post-commit out of git's sight while a rebase is under way, if there is nothing in it but our lines. The
# worker is alive as long, and indexes what the hook would have asked for.
park() {
  [ -e "$git_dir/rebase-merge" ] && cmp -s "$home/post-commit" "$hooks/post-commit" || return
  printf '' >"$home/parked" && rm -f "$hooks/post-commit"
}

# --- the worker ---------------------------------------------------------------------------------------------

# True when this process now holds $state/worker. It replaces the file of a dead one.
claim() {
  ! alive || return 1
  rm -f "$state/worker"
  (set -C && printf '%s %s\n' "$$" "$boot" >"$state/worker")
}

mine() {
  read -r worker started <"$state/worker" && [ "$worker" = "$$" ]
}

release() {
  ! mine || rm -f "$state/worker"
}

# True while git is in the middle of something that runs hooks more than once.
busy() {
  for each in rebase-merge rebase-apply sequencer MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG; do
    [ ! -e "$git_dir/$each" ] || return 0
  done
  return 1
}

# Each worker ends with this, so that what a killed one left is mended by the next.
unpark() {
  [ -e "$home/parked" ] || return
  if [ ! -e "$hooks/post-commit" ]; then
    cp -p "$home/post-commit" "$home/fresh" && mv -f "$home/fresh" "$hooks/post-commit"
  fi
  rm -f "$home/parked"
}

run() {
  if [ -x "$python" ] && [ -f "$main" ]; then
    set -- "$python" -P "$main" "$@"
  else # moved or removed since: whatever codesearch there is now
    command -v codesearch || return
    set -- codesearch "$@"
  fi
  nice "$@" >"$state/log" 2>&1 &
  child=$!
  wait "$child"
  printf '%s\n' "$?" >"$state/code"
  child=
}

work() {
  git_dir=$1 root=$2 state=$1/codesearch-hook child=
  cd / || return # hold no folder of the user's
  mine || claim || return
  if [ -z "$3" ] && [ -x "$python" ]; then
    # sh cannot close a descriptor above 9. An inherited one may be a lock (`flock 200`) or a pipe that is waited on.
    exec "$python" -I -S -c 'import os, sys; os.closerange(3, 4096); os.execv("/bin/sh", ["sh", *sys.argv[1:]])' \
      "$codesearch_hook" work "$git_dir" "$root" closed
  fi
  trap 'unpark; release' EXIT
  trap '[ -z "$child" ] || kill "$child"; exit 143' HUP INT TERM
  waited=0
  while mine; do
    sleep 1 # commits of a script follow each other faster than that, and nobody waits for this
    if busy; then
      waited=$((waited + 1))
      [ "$waited" -lt 30 ] || unpark # it stands still; other worktrees commit as well
      [ "$waited" -le "$patience" ] || return
    else
      unpark
      # Taken before the work begins, so that a request from now on is a request for more.
      waited=0
      if [ -e "$state/staged" ]; then
        IFS= read -r index <"$state/staged"
        rm -f "$state/staged"
        [ -e "$index" ] || index= # the commit has landed, and took its index along
        run hook work -C "$root" --git-dir "$git_dir" --index-file "$index"
      fi
      if [ -e "$state/request" ]; then
        rm -f "$state/request"
        run hook work -C "$root" --git-dir "$git_dir"
      fi
      if [ ! -e "$state/request" ] && [ ! -e "$state/staged" ]; then
        release
        # A hook that asked a moment ago saw this worker alive.
        [ -e "$state/request" ] || [ -e "$state/staged" ] || return
        claim || return
      fi
    fi
  done
}

codesearch_hook=${codesearch_hook:-$0}
case $codesearch_hook in /*) ;; *) codesearch_hook=$PWD/$codesearch_hook ;; esac
home=${codesearch_hook%/*}
hooks=$home/../hooks
if [ "${1-}" = work ] && [ "${0##*/}" = hook.sh ]; then
  work "$2" "$3" "${4-}"
elif [ "${1-}" = staged ] || [ "${codesearch_staged-}" ]; then
  ask staged
else
  ask
fi
true # whatever came of it, git goes on
