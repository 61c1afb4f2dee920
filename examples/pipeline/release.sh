#!/bin/sh
# Creates the Transaction of this file, waits until it has finished, and fails unless it is Committed.
set -eu

txn=$(kubectl create -f "$1" -o jsonpath='{.metadata.name}')
namespace=$(kubectl create -f "$1" --dry-run=client -o jsonpath='{.metadata.namespace}')
kubectl wait -n "$namespace" "txn/$txn" --for=jsonpath='{.status.completedAt}' --timeout=40m
kubectl get -n "$namespace" txn "$txn" -o wide
test "$(kubectl get -n "$namespace" txn "$txn" -o jsonpath='{.status.phase}')" = Committed
