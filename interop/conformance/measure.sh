#!/usr/bin/env bash
# measure.sh [RUN...] - runs the official suite through the bridge and compares with baseline.json.
# RUN is a key of baseline.json; all of them without one:
#   legacy/SERVER      the suite's 2025-11-25 client at the legacy face, SERVER behind the bridge
#   modern/SERVER      the suite's 2026-07-28 client at the modern face, SERVER behind the bridge
#   client/REVISION    the suite's server of that REVISION behind the bridge, a real client of the other era in front
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
HERE=$INTEROP/conformance

AT_A_TIME=2

# of RUN EXPRESSION: one value of the baseline, as lines; EXPRESSION is JavaScript about `run`.
of() {
  node -e 'const run = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))[process.argv[2]];
    for (const line of [eval(process.argv[3]) ?? []].flat()) console.log(line)' "$HERE/baseline.json" "$1" "$2"
}

# measure RUN: every scenario of one run, in processes of its own.
measure() {
  local run=$1 out=$OUT/conformance/${1//\//-} url setting flags=() suite=() since=$SECONDS
  echo "== official suite, $run"
  mkdir -p "$out"
  [ -n "$(of "$run" run)" ] || die "no run $run"
  while read -r setting; do flags+=(--set "$setting"); done < <(of "$run" run.settings)
  while read -r setting; do suite+=(--without "$setting"); done < <(of "$run" run.without)
  case $run in
    legacy/* | modern/*)
      start_server "${run#*/}" "$out/server.log"
      start_bridge "$out/bridge.log" "${flags[@]}"
      url=$LEGACY_URL
      [ "${run%%/*}" = legacy ] || url=$MODERN_URL
      node "$HERE/suite.mjs" server "$url" "$(of "$run" run.revision)" "$out" "${suite[@]}" || die "the suite could not run"
      stop_all
      ;;
    client/*)
      TASKBRIDGE_BIN=$BRIDGE node "$HERE/suite.mjs" client "node '$HERE/client-driver.mjs'" "${run#*/}" "$out" || die "the suite could not run"
      ;;
  esac
  node "$HERE/compare.mjs" "$run" "$out/summary.json" || return 1
  echo "== $run took $((SECONDS - since)) s"
}

need node npm go
install_npm
find_bridge
[ "${REPLICAS:-1}" -le 1 ] || find_balancer
build_go
[ $# -gt 0 ] || mapfile -t runs < <(node -p "Object.keys(JSON.parse(fs.readFileSync('$HERE/baseline.json', 'utf8'))).join('\n')")
in_turns "$AT_A_TIME" "$OUT/conformance" measure "${@:-${runs[@]}}"
[ ${#FAILED[@]} -eq 0 ]
