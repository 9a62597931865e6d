#!/usr/bin/env bash
# Keeps parcels in a depot.

# Copyright of nobody.

set -euo pipefail

# How many parcels fit.
readonly CAPACITY=20
declare -r SMALL=1 LARGE=9
declare -A shelves=([left]=1 [right]=2)
declare -a pending
typeset -i counter=0
export DEPOT_PATH="${DEPOT_PATH:-/tmp}"
limit=3
names=(one two)

alias depot-list='ls -l'
# Goes to the depot.
alias depot-go="cd $DEPOT_PATH" depot-back='cd -'

# Opens the depot.
#
# Usage: open_depot PATH
open_depot() {
  local path=$1
  total=0
  knock() {
    echo "knock $1"
  }
  if [[ -d $path ]]; then
    enter() { cd "$path"; }
  fi
  knock 3
}

function close_depot {
  local -r state=closed
  echo "$state"
}

function lock_depot() {
  :
}

# Runs in a shell of its own.
in_subshell() (
  cd "$DEPOT_PATH"
)

on_condition() if true; then echo yes; fi

depot::store-parcel() { echo "$1" > "$DEPOT_PATH/$1"; } 2>/dev/null

function _depot.complete ()
{
  COMPREPLY=($(compgen -W "open close" -- "$2"))
}

first() { :; }; second() { :; }

if command -v jq >/dev/null; then
  # Only with jq.
  read_json() { jq . "$1"; }
else
  read_json() { cat "$1"; }
fi

cat <<'EOF'
not_a_function() { :; }
EOF

case ${1:-} in
  open) open_depot "$2" ;;
  *)
    usage() { echo "usage"; }
    usage
    ;;
esac

# Stores one.
@test "stores parcels" {
  run depot::store-parcel "a b"
  [ "$status" -eq 0 ]
  check() { :; }
}

@test 'opens at night (if "lit")' { # bats test_tags=slow
  skip
}

@test "closes" { close_depot; }

open_depot "$DEPOT_PATH"
