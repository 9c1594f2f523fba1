#!/usr/bin/env bash
# replicas.sh PORT FLAG...: REPLICAS (3) bridges over one Redis with these flags of `serve`, and at the port a balancer that
# sends each request to another of them, until it is stopped. Logs go to out/replicas-PORT.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ $# -gt 1 ] || die "usage: replicas.sh PORT FLAG..."
REPLICAS=${REPLICAS:-3}
find_bridge
find_balancer
mkdir -p "$OUT/replicas-$1"
start_replicas "$1" "$OUT/replicas-$1/log" "${@:2}"
wait
