#!/usr/bin/env zsh
# Keeps parcels in a depot.

0="${${ZERO:-${0:#$ZSH_ARGZERO}}:-${(%):-%N}}"
typeset -gA shelves
typeset -gr capacity=20

if (( ! $+commands[git] )); then
  return
fi

alias -g LESS='| less'
alias depot-list=ls

# Opens the depot.
function open_depot() {
  local -a found
  found=(${(f)"$(ls -1 $1)"} $1/*.parcel(N-.))
  for parcel ($found); do
    print -r -- ${${parcel:t}:r} &!
  done
  {
    [[ $1 = (left|right)* ]] && close_depot $1
  } always {
    diff =(cat $1) <(cat $2)
  }
}

close_depot() { print closed }

() {
  local name=$1
  function inside_nameless { print $name; }
}

if [[ -n $DEPOT ]] then
  function conditional { (( #name )) && print ${(j:, :)${(o)found}} }
fi

depot:store-parcel () { case $1 in <1-9>) print few & ;; esac; }
