#!/bin/sh
# Stands in for the Git journal: commits the live objects of the example. Arguments: the clone, and what the commit says.
set -eu

clone=$1
message=$2

# Writes all objects of a resource, each to the file that the journal has for it.
write() {
  folder="$clone/clusters/prod/$1/$2/git-revert"
  rm -rf "$folder"
  mkdir -p "$folder"
  for object in $(kubectl get "$2" -n git-revert -l app=shop -o name); do
    kubectl get "$object" -n git-revert -o yaml >"$folder/${object##*/}.yaml"
  done
}

test -d "$clone" || git init --quiet "$clone"
write core/v1 configmaps
write apps/v1 deployments
git -C "$clone" add --all
git -C "$clone" -c user.name='GitOps Reverser' -c user.email=gitops-reverser@configbutler.ai commit --quiet --message="$message"
