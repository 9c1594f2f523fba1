#!/usr/bin/env bash
# run.sh [peers|conformance|all] - the bridge between real peers, and under the official suite.
#   peers        the TypeScript SDK client through the bridge, in front of demo-modern, modern-fixture and fastmcp-tasks
#   conformance  the official suite at the legacy face, in front of modern-fixture
# Builds the bridge unless TASKBRIDGE_BIN names one. Everything it starts listens on loopback and is stopped at the end.
# Exit 0 only if every expected flow and scenario ran and came out as expected. Logs and verdicts stay in out/.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CLIENT='@modelcontextprotocol/sdk 1.32.2'
SERVERS=(demo-modern modern-fixture fastmcp-tasks)
failed=()

# self_test: the checkers themselves, which a broken bridge must not get past.
self_test() {
  node --test --test-reporter=spec "$INTEROP"/*.test.mjs "$INTEROP"/drivers/*.test.mjs "$INTEROP"/conformance/*.test.mjs ||
    failed+=(self-test)
}

# run_peer SERVER: one server, one bridge, the SDK client.
run_peer() {
  local server=$1 out=$OUT/$1 since=$SECONDS
  local verdicts=$out/verdicts.jsonl
  echo "== $CLIENT -> bridge -> $server"
  mkdir -p "$out"
  start_server "$server" "$out/server.log"
  start_bridge "$out/bridge.log" --set page_size=5
  node "$INTEROP/drivers/legacy-client.mjs" "$LEGACY_URL" all --profile "$server" --profiles "$INTEROP/profiles.json" >"$verdicts"
  [ $? -lt 2 ] || die "the driver could not run"
  node "$INTEROP/check.mjs" "$verdicts" --client "$CLIENT" --server "$server" || failed+=("$server")
  stop_all
  echo "== $server took $((SECONDS - since)) s"
}

run_peers() {
  install_python
  local server
  for server in "${SERVERS[@]}"; do run_peer "$server"; done
}

run_conformance() {
  local since=$SECONDS
  "$INTEROP/conformance/measure.sh" || failed+=(conformance)
  echo "== conformance took $((SECONDS - since)) s"
}

part=${1:-all}
case $part in
  peers | conformance | all) ;;
  *)
    sed -n 2,6p "$0" >&2
    exit 2
    ;;
esac
need node npm
[ "$part" = conformance ] || need python3
find_bridge
install_npm
self_test
export TASKBRIDGE_BIN=$BRIDGE
[ "$part" = conformance ] || run_peers
[ "$part" = peers ] || run_conformance
if [ ${#failed[@]} -gt 0 ]; then die "not as expected: ${failed[*]}"; fi
echo "interop $part: as expected"
