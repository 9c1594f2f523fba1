#!/usr/bin/env bash
# measure.sh [RUN...] - runs the official suite through the bridge and compares with baseline.json.
# RUN is a key of baseline.json; all of them without one:
#   legacy/SERVER      the suite's client at the legacy face, SERVER behind the bridge
#   client/REVISION    the suite's server of that REVISION behind the bridge, a real client of the other era in front
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
HERE=$INTEROP/conformance

# measure RUN: every scenario of one run, in processes of its own.
measure() {
  local run=$1 out=$OUT/conformance/${1//\//-}
  echo "== official suite, $run"
  mkdir -p "$out"
  case $run in
    legacy/*)
      start_server "${run#*/}" "$out/server.log"
      start_bridge "$out/bridge.log"
      node "$HERE/suite.mjs" server "$LEGACY_URL" 2025-11-25 "$out" || die "the suite could not run"
      stop_all
      ;;
    client/*)
      TASKBRIDGE_BIN=$BRIDGE node "$HERE/suite.mjs" client "node '$HERE/client-driver.mjs'" "${run#*/}" "$out" || die "the suite could not run"
      ;;
    *) die "no run $run" ;;
  esac
  node "$HERE/compare.mjs" "$run" "$out/summary.json"
}

need node npm go
install_npm
find_bridge
build_go
[ $# -gt 0 ] || mapfile -t runs < <(node -p "Object.keys(JSON.parse(fs.readFileSync('$HERE/baseline.json', 'utf8'))).join('\n')")
rc=0
for run in "${@:-${runs[@]}}"; do measure "$run" || rc=1; done
exit $rc
