#!/usr/bin/env bash
# run.sh [peers|cells|login|conformance|all] - the bridge between real peers, and under the official suite.
#   peers        real clients of each era through the bridge, in front of real servers of the other one
#   cells        the same task flows with clients of both eras at servers of both; README.md shows the outcome
#   login        clients that have nothing but a URL log in, at both faces, where the bridge verifies and where the backend does
#   conformance  the official suite: at both faces with servers behind, and at the bridge's own client in both eras
# Builds the bridge unless TASKBRIDGE_BIN names one. Everything it starts listens on this machine and is stopped at the end.
# CLIENTS and SERVERS (lists of names) narrow the peers down; REPLICAS (1) is how many bridges serve, over one Redis, each
# request at another. Exit 0 only if every expected flow and scenario ran and came
# out as expected, 2 for a mistake in the command. Logs and verdicts stay in out/.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LEGACY_CLIENTS=(sdk sdk-example ext-tasks mcp-go python)
MODERN_CLIENTS=(ext-tasks-modern fastmcp)
MODERN_SERVERS=(demo-modern modern-fixture fastmcp-tasks)
LEGACY_SERVERS=(demo-legacy everything ts-tasks ts-interactive mcp-go fastmcp-3 python-tasks)
read -ra CLIENTS <<<"${CLIENTS:-${LEGACY_CLIENTS[*]} ${MODERN_CLIENTS[*]}}"
read -ra SERVERS <<<"${SERVERS:-${MODERN_SERVERS[*]} ${LEGACY_SERVERS[*]}}"
CLIENT_LIMIT=150 # seconds for all flows of one client at one server
AT_A_TIME=2      # servers, each with a bridge of its own and all its clients
failed=()

# self_test FILE...: the checkers and drivers themselves, which a broken bridge must not get past.
self_test() {
  node --test --test-reporter=dot "$@" || failed+=("self-test")
}

# among NAME LIST...: whether the list has the name.
among() {
  local name=$1
  shift
  [[ " $* " == *" $name "* ]]
}

# client CLIENT: sets NAME, by which its expectations know it, and DRIVER, the command that runs its flows.
client() {
  case $1 in
    sdk) NAME='@modelcontextprotocol/sdk 1.32.2' DRIVER=(node "$INTEROP/drivers/legacy-client.mjs") ;;
    sdk-example) NAME='@modelcontextprotocol/sdk 1.32.2 example client' DRIVER=(node "$INTEROP/drivers/example-client.mjs") ;;
    ext-tasks)
      NAME='@modelcontextprotocol/ext-tasks 0.2.2, @modelcontextprotocol/client 2.4.0'
      DRIVER=(node "$INTEROP/drivers/exttasks-client.mjs")
      ;;
    ext-tasks-modern)
      NAME='@modelcontextprotocol/ext-tasks 0.2.2, @modelcontextprotocol/client 2.4.0, 2026-07-28'
      DRIVER=(node "$INTEROP/drivers/exttasks-modern-client.mjs")
      ;;
    mcp-go) NAME='mcp-go 1.2.1' DRIVER=("$INTEROP/bin/mcpgo-client") ;;
    python) NAME='mcp (Python) 1.30.0' DRIVER=("$INTEROP/.venv/python/bin/python" "$INTEROP/python/client.py") ;;
    fastmcp)
      NAME='fastmcp 4.1.4, fastmcp-tasks 4.1.4'
      DRIVER=("$INTEROP/.venv/fastmcp/bin/python" "$INTEROP/fastmcp/client.py")
      ;;
    *) usage "no client $1" ;;
  esac
}

# drive OUT CLIENT URL FLOWS PROFILE: begins the flows of a client; their verdicts go to OUT.jsonl. Sets DRIVEN to its process.
drive() {
  client "$2"
  timeout --kill-after=5 "$CLIENT_LIMIT" "${DRIVER[@]}" "$3" "$4" --profile "$5" --profiles "$INTEROP/profiles.json" \
    >"$1.jsonl" 2>"$1.log" </dev/null &
  DRIVEN=$!
  PIDS+=("$DRIVEN")
}

# driven OUT PROCESS: waits for a client. Fails if the driver itself did; that a flow broke off is for others to judge.
driven() {
  local code=0
  wait "$2" || code=$?
  [ "$code" -gt 1 ] || return 0
  echo "FAIL ${1##*/}: the driver ended with $code (its log follows; 124 and 137 are the time limit)"
  tail -n 20 "$1.log"
  return 1
}

# clients_of SERVER: sets `clients` to those of the other era that were asked for.
clients_of() {
  local name all=("${MODERN_CLIENTS[@]}")
  among "$1" "${LEGACY_SERVERS[@]}" || all=("${LEGACY_CLIENTS[@]}")
  clients=()
  for name in "${all[@]}"; do
    if among "$name" "${CLIENTS[@]}"; then clients+=("$name"); fi
  done
}

# peers_of SERVER: one server, one bridge, and all clients of the other era at once, each under a time limit of its own.
peers_of() {
  local server=$1 out=$OUT/$1 since=$SECONDS name clients code=0 url flags=() expect=$INTEROP/expect-modern.json
  local -A running=()
  clients_of "$server"
  echo "== ${clients[*]} -> bridge -> $server"
  mkdir -p "$out"
  among "$server" "${LEGACY_SERVERS[@]}" || flags=(--set page_size=5) expect=$INTEROP/expect.json
  start_server "$server" "$out/server.log"
  start_bridge "$out/bridge.log" "${flags[@]}"
  url=$MODERN_URL
  among "$server" "${LEGACY_SERVERS[@]}" || url=$LEGACY_URL
  for name in "${clients[@]}"; do
    drive "$out/$name" "$name" "$url" all "$server"
    running[$name]=$DRIVEN
  done
  for name in "${clients[@]}"; do
    driven "$out/$name" "${running[$name]}" || code=1
    client "$name"
    node "$INTEROP/check.mjs" "$out/$name.jsonl" --client "$NAME" --server "$server" --expect "$expect" || code=1
  done
  echo "== $server took $((SECONDS - since)) s"
  return $code
}

run_peers() {
  local since=$SECONDS each clients servers=()
  for each in "${SERVERS[@]}"; do
    clients_of "$each"
    [ ${#clients[@]} -eq 0 ] || servers+=("$each")
  done
  [ ${#servers[@]} -gt 0 ] || die "none of ${CLIENTS[*]} is of the other era than ${SERVERS[*]}"
  in_turns "$AT_A_TIME" "$OUT/peers" peers_of "${servers[@]}"
  failed+=("${FAILED[@]/#/peers at }")
  echo "== peers took $((SECONDS - since)) s"
}

run_conformance() {
  local since=$SECONDS
  self_test "$INTEROP"/conformance/*.test.mjs
  "$INTEROP/conformance/measure.sh" || failed+=(conformance)
  echo "== conformance took $((SECONDS - since)) s"
}

# run_cells: one bridge in front of both demo servers, a client of each era at both.
run_cells() {
  local since=$SECONDS out=$OUT/cells server cell url flows backends=() code=0
  local -A running=()
  echo "== cells"
  mkdir -p "$out"
  for server in demo-modern demo-legacy; do
    start_server "$server" "$out/$server.log"
    backends+=(--backend "$server=$SERVER_URL")
  done
  start_bridge "$out/bridge.log" "${backends[@]}"
  for cell in $(node "$INTEROP/cells.mjs" names); do # CLIENT@SERVER
    server=${cell#*@} url=$LEGACY_URL
    [ "${cell%@*}" = sdk ] || url=$MODERN_URL
    flows=$(node "$INTEROP/cells.mjs" flows "$cell") || die "no flows for $cell"
    drive "$out/$cell" "${cell%@*}" "${url%/*}/$server" "$flows" "$server"
    running[$cell]=$DRIVEN
  done
  for cell in "${!running[@]}"; do driven "$out/$cell" "${running[$cell]}" || code=1; done
  node "$INTEROP/cells.mjs" check "$out" || code=1
  [ "$code" -eq 0 ] || failed+=(cells)
  stop_all
  echo "== cells took $((SECONDS - since)) s"
}

# start_authorization LOG [TARGET]: an authorization server, with a protected resource in front of TARGET; sets ISSUER.
start_authorization() {
  local port log=$1
  shift
  port=$(free_port)
  ISSUER=http://127.0.0.1:$port
  start "$log" node "$INTEROP/servers/authorization.mjs" "$port" "$@"
  wait_port "$port" "$log"
}

# login OUT CLIENT URL ISSUER [FLAG...]: a client logs in; says what it saw.
login() {
  local out=$1 client=$2 url=$3 issuer=$4 code=0
  shift 4
  timeout --kill-after=5 60 node "$INTEROP/drivers/login.mjs" "$client" "$url" "$issuer/audit" "$@" >"$out" 2>&1 </dev/null || code=$?
  if [ "$code" -eq 0 ]; then
    echo "ok   $client at ${url#http://*/}: logged in from the 401 alone"
    return 0
  fi
  echo "FAIL $client at $url ended with $code:"
  tail -n 20 "$out"
  failed+=("login of $client at ${url#http://*/}")
}

# run_login: a bridge that verifies tokens in front of two open servers, and one that forwards them to the same servers
# behind a protected resource each. Where the bridge verifies, a session outlives the token it began with.
run_login() {
  local since=$SECONDS out=$OUT/login port name verified forwarded
  local -A target=() guard=()
  echo "== login"
  mkdir -p "$out"
  for name in demo-modern demo-legacy; do
    start_server "$name" "$out/$name.log"
    target[$name]=$SERVER_URL
    start_authorization "$out/guard-$name.log" "$SERVER_URL"
    guard[$name]=$ISSUER
  done
  start_authorization "$out/issuer.log"
  port=$(free_port)
  verified=http://127.0.0.1:$port
  start "$out/verified.log" "$BRIDGE" serve --listen "127.0.0.1:$port" --admin off --store memory: \
    --backend "demo-modern=${target[demo-modern]}" --backend "demo-legacy=${target[demo-legacy]}" \
    --set "auth={jwks_url: $ISSUER/keys, issuer: $ISSUER, public_url: $verified}"
  wait_port "$port" "$out/verified.log"
  for name in demo-modern demo-legacy; do
    login "$out/verified-sdk-$name.txt" sdk "$verified/legacy/$name" "$ISSUER"
    login "$out/verified-client-$name.txt" client "$verified/modern/$name" "$ISSUER"
  done
  port=$(free_port)
  forwarded=http://127.0.0.1:$port
  start "$out/forwarded.log" "$BRIDGE" serve --listen "127.0.0.1:$port" --admin off --store memory: \
    --backend "demo-modern=${guard[demo-modern]}/mcp" --backend "demo-legacy=${guard[demo-legacy]}/mcp"
  wait_port "$port" "$out/forwarded.log"
  for name in demo-modern demo-legacy; do
    login "$out/forwarded-sdk-$name.txt" sdk "$forwarded/legacy/$name" "${guard[$name]}" --session lost
    login "$out/forwarded-client-$name.txt" client "$forwarded/modern/$name" "${guard[$name]}"
  done
  stop_all
  echo "== login took $((SECONDS - since)) s"
}

usage() {
  echo "interop: $*" >&2
  sed -n 2,9p "$0" >&2
  exit 2
}

part=${1:-all}
case $part in
  peers | cells | login | conformance | all) ;;
  *) usage "no part $part" ;;
esac
for each in "${CLIENTS[@]}"; do client "$each"; done
for each in "${SERVERS[@]}"; do
  among "$each" "${MODERN_SERVERS[@]}" "${LEGACY_SERVERS[@]}" || usage "no server $each"
done
need node npm go timeout
find_bridge
[ "${REPLICAS:-1}" -le 1 ] || find_balancer
install_npm
export TASKBRIDGE_BIN=$BRIDGE
if among "$part" peers all; then
  need python3
  for each in fastmcp fastmcp3 python; do install_python "$each"; done
  build_go
  self_test "$INTEROP"/*.test.mjs "$INTEROP"/drivers/*.test.mjs
  run_peers
fi
if among "$part" cells all; then run_cells; fi
if among "$part" login all; then run_login; fi
if among "$part" conformance all; then run_conformance; fi
if [ ${#failed[@]} -gt 0 ]; then
  printf 'interop: not as expected: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "interop $part: as expected"
