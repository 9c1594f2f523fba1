#!/usr/bin/env bash
# measure.sh [RUN...] - runs the official suite through the bridge and compares with baseline.json.
# RUN is FACE/SERVER, a key of baseline.json; the only one so far, and the default, is legacy/modern-fixture.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
HERE=$INTEROP/conformance

# measure FACE/SERVER: one server, one bridge, every scenario of the face's revision.
measure() {
  local run=$1 server=${1#*/} out=$OUT/conformance/${1//\//-}
  [ "${run%/*}" = legacy ] || die "no face ${run%/*} to measure"
  echo "== official suite -> bridge, $run"
  mkdir -p "$out"
  start_server "$server" "$out/server.log"
  start_bridge "$out/bridge.log"
  node "$HERE/suite.mjs" "$LEGACY_URL" 2025-11-25 "$out" || die "the suite could not run"
  stop_all
  node "$HERE/compare.mjs" "$run" "$out/summary.json"
}

need node npm
install_npm
find_bridge
[ $# -gt 0 ] || set -- legacy/modern-fixture
rc=0
for run in "$@"; do measure "$run" || rc=1; done
exit $rc
