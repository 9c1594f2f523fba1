#!/usr/bin/env bash
# run.sh [peers|conformance|all] - the bridge between real peers, and under the official suite.
#   peers        five real clients through the bridge, in front of demo-modern, modern-fixture and fastmcp-tasks
#   conformance  the official suite at the legacy face with two servers behind it, and at the bridge's own client
# Builds the bridge unless TASKBRIDGE_BIN names one. Everything it starts listens on loopback and is stopped at the end.
# CLIENTS and SERVERS (lists of names) narrow the peers down. Exit 0 only if every expected flow and scenario ran and came
# out as expected, 2 for a mistake in the command. Logs and verdicts stay in out/.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

read -ra CLIENTS <<<"${CLIENTS:-sdk sdk-example ext-tasks mcp-go python}"
read -ra SERVERS <<<"${SERVERS:-demo-modern modern-fixture fastmcp-tasks}"
CLIENT_LIMIT=150 # seconds for all flows of one client at one server
failed=()

# self_test FILE...: the checkers and drivers themselves, which a broken bridge must not get past.
self_test() {
  node --test --test-reporter=dot "$@" || failed+=("self-test")
}

# client CLIENT: sets NAME, by which expect.json knows it, and DRIVER, the command that runs its flows.
client() {
  case $1 in
    sdk) NAME='@modelcontextprotocol/sdk 1.32.2' DRIVER=(node "$INTEROP/drivers/legacy-client.mjs") ;;
    sdk-example) NAME='@modelcontextprotocol/sdk 1.32.2 example client' DRIVER=(node "$INTEROP/drivers/example-client.mjs") ;;
    ext-tasks)
      NAME='@modelcontextprotocol/ext-tasks 0.2.2, @modelcontextprotocol/client 2.4.0'
      DRIVER=(node "$INTEROP/drivers/exttasks-client.mjs")
      ;;
    mcp-go) NAME='mcp-go 1.2.1' DRIVER=("$INTEROP/bin/mcpgo-client") ;;
    python) NAME='mcp (Python) 1.30.0' DRIVER=("$INTEROP/.venv/python/bin/python" "$INTEROP/python/client.py") ;;
    *) usage "no client $1" ;;
  esac
}

# run_peers_of SERVER: one server, one bridge, and all clients at once, each under a time limit of its own.
run_peers_of() {
  local server=$1 out=$OUT/$1 since=$SECONDS name code behind
  local -A running=()
  echo "== ${CLIENTS[*]} -> bridge -> $server"
  mkdir -p "$out"
  start_server "$server" "$out/server.log"
  start_bridge "$out/bridge.log" --set page_size=5
  behind=("${PIDS[@]}")
  for name in "${CLIENTS[@]}"; do
    client "$name"
    timeout --kill-after=5 "$CLIENT_LIMIT" "${DRIVER[@]}" "$LEGACY_URL" all --profile "$server" --profiles "$INTEROP/profiles.json" \
      >"$out/$name.jsonl" 2>"$out/$name.log" </dev/null &
    PIDS+=($!)
    running[$name]=$!
  done
  for name in "${CLIENTS[@]}"; do
    code=0
    wait "${running[$name]}" || code=$?
    if [ "$code" -gt 1 ]; then
      echo "FAIL $server $name: the driver ended with $code (its log follows; 124 and 137 are the time limit)"
      tail -n 20 "$out/$name.log"
    fi
    client "$name"
    node "$INTEROP/check.mjs" "$out/$name.jsonl" --client "$NAME" --server "$server" || code=2
    [ "$code" -le 1 ] || failed+=("$name at $server")
  done
  PIDS=("${behind[@]}") # the clients have ended
  stop_all
  echo "== $server took $((SECONDS - since)) s"
}

run_peers() {
  local each
  install_python fastmcp
  install_python python
  build_go
  self_test "$INTEROP"/*.test.mjs "$INTEROP"/drivers/*.test.mjs
  for each in "${SERVERS[@]}"; do run_peers_of "$each"; done
}

run_conformance() {
  local since=$SECONDS
  self_test "$INTEROP"/conformance/*.test.mjs
  "$INTEROP/conformance/measure.sh" || failed+=(conformance)
  echo "== conformance took $((SECONDS - since)) s"
}

usage() {
  echo "interop: $*" >&2
  sed -n 2,7p "$0" >&2
  exit 2
}

part=${1:-all}
case $part in
  peers | conformance | all) ;;
  *) usage "no part $part" ;;
esac
for each in "${CLIENTS[@]}"; do client "$each"; done
for each in "${SERVERS[@]}"; do
  case $each in demo-modern | modern-fixture | fastmcp-tasks) ;; *) usage "no server $each" ;; esac
done
need node npm go
[ "$part" = conformance ] || need python3 timeout
find_bridge
install_npm
export TASKBRIDGE_BIN=$BRIDGE
[ "$part" = conformance ] || run_peers
[ "$part" = peers ] || run_conformance
if [ ${#failed[@]} -gt 0 ]; then
  printf 'interop: not as expected: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "interop $part: as expected"
