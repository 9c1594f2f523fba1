# lib.sh - sourced by run.sh and conformance/measure.sh: tools, ports, processes and the bridge.
# Everything that start() starts is stopped when the sourcing script ends, however it ends.

INTEROP=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
OUT=$INTEROP/out
PIDS=()

die() {
  echo "interop: $*" >&2
  exit 1
}

# need TOOL...: a missing tool is a failure, never a reason to skip.
need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || die "$tool is missing"
  done
}

# stop_all: asks every started process to end, and makes those that have not done so within five seconds.
stop_all() {
  local pid waited=0
  for pid in "${PIDS[@]}"; do kill "$pid" 2>/dev/null; done
  for pid in "${PIDS[@]}"; do
    while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt 50 ]; do
      sleep 0.1
      waited=$((waited + 1))
    done
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  PIDS=()
  return 0
}
trap stop_all EXIT
trap 'exit 130' INT TERM

# start LOG COMMAND...: runs COMMAND in the background; its output goes to LOG.
start() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null &
  PIDS+=($!)
}

# in_turns WIDTH LOG FUNCTION NAME...: runs FUNCTION NAME for every NAME, WIDTH of them at a time, each in a shell of its
# own that stops what it started. Their output goes to LOG/NAME.txt ("/" as "-"), and from there to stdout when they end.
# Sets FAILED to the names whose FUNCTION did not return 0.
in_turns() {
  local width=$1 log=$2 function=$3 name file
  local -A running=()
  shift 3
  FAILED=()
  mkdir -p "$log"
  for name in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$width" ]; do sleep 0.2; done
    file=$log/${name//\//-}.txt
    (
      exec 3>&1 >"$file" 2>&1 </dev/null
      PIDS=()
      trap 'stop_all; cat "$file" >&3' EXIT
      trap 'exit 130' INT TERM
      "$function" "$name"
    ) &
    running[$name]=$!
    PIDS+=($!)
  done
  for name in "$@"; do wait "${running[$name]}" || FAILED+=("$name"); done
  PIDS=()
}

free_port() {
  node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}

# wait_port PORT LOG: until the process started last listens on PORT; a minute at most, less if it ends.
wait_port() {
  local pid=${PIDS[-1]} port=$1 log=$2
  for _ in $(seq 600); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  cat "$log" >&2
  die "nothing listens on port $port (log above)"
}

# install_npm: the npm packages of the lock file, once.
install_npm() {
  local stamp=$INTEROP/node_modules/.installed
  cmp -s "$INTEROP/package-lock.json" "$stamp" && return 0
  (cd "$INTEROP" && npm ci --no-audit --no-fund --loglevel=error) || die "npm ci failed"
  cp "$INTEROP/package-lock.json" "$stamp"
}

# install_python DIR: the Python packages of DIR/requirements.txt in a virtual environment of their own, once.
install_python() {
  local venv=$INTEROP/.venv/$1 requirements=$INTEROP/$1/requirements.txt
  cmp -s "$requirements" "$venv/installed" && return 0
  rm -rf "$venv"
  python3 -m venv "$venv" || die "python3 cannot make a virtual environment"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$requirements" ||
    die "the Python packages cannot be installed"
  cp "$requirements" "$venv/installed"
}

# build_go: the Go programs of go/ into bin/: the go-sdk's own test server, and the mcp-go client.
build_go() {
  (cd "$INTEROP/go" && GOBIN=$INTEROP/bin go install tool ./...) || die "the Go peers do not build"
}

# find_bridge: sets BRIDGE to $TASKBRIDGE_BIN or to a fresh build.
find_bridge() {
  BRIDGE=${TASKBRIDGE_BIN:-}
  if [ -n "$BRIDGE" ]; then
    [ -x "$BRIDGE" ] || die "TASKBRIDGE_BIN is not an executable file: $BRIDGE"
    return 0
  fi
  need go
  BRIDGE=$INTEROP/bin/taskbridge
  (cd "$INTEROP/.." && go build -o "$BRIDGE" ./cmd/taskbridge) || die "the bridge does not build"
}

# find_balancer: sets BALANCER, and looks for what else several replicas need.
find_balancer() {
  need go
  need redis-server
  BALANCER=$INTEROP/bin/balancer
  (cd "$INTEROP/.." && go build -o "$BALANCER" ./internal/balance/cmd) || die "the balancer does not build"
}

# start_server NAME LOG: runs one server to put behind the bridge, as a process of its own; sets SERVER_URL.
start_server() {
  local name=$1 port log=$2
  port=$(free_port)
  SERVER_URL=http://127.0.0.1:$port/mcp
  case $name in
    demo-modern) start "$log" "$BRIDGE" demo modern --listen "127.0.0.1:$port" ;;
    modern-fixture) start "$log" node "$INTEROP/conformance/servers/modern-fixture.mjs" "$port" ;;
    fastmcp-tasks) start "$log" "$INTEROP/.venv/fastmcp/bin/python" "$INTEROP/fastmcp/server.py" 127.0.0.1 "$port" ;;
    demo-legacy) start "$log" "$BRIDGE" demo legacy --listen "127.0.0.1:$port" ;;
    everything)
      start "$log" env "PORT=$port" node "$INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js" streamableHttp
      ;;
    ts-tasks) start "$log" node "$INTEROP/servers/ts-tasks.mjs" "$port" ;;
    ts-interactive)
      start "$log" env "PORT=$port" node "$INTEROP/node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleTaskInteractive.js"
      ;;
    mcp-go) start "$log" "$INTEROP/bin/mcpgo-server" -listen "127.0.0.1:$port" ;;
    fastmcp-3) start "$log" "$INTEROP/.venv/fastmcp3/bin/python" "$INTEROP/fastmcp3/server.py" 127.0.0.1 "$port" ;;
    python-tasks) start "$log" "$INTEROP/.venv/python/bin/python" "$INTEROP/python/server.py" 127.0.0.1 "$port" ;;
    legacy-fixture) start "$log" node "$INTEROP/conformance/servers/legacy-fixture.mjs" "$port" ;;
    legacy-fixture-notasks) start "$log" node "$INTEROP/conformance/servers/legacy-fixture.mjs" "$port" --no-tasks ;;
    gosdk-modern | gosdk-legacy)
      local stateless=true
      [ "$name" = gosdk-modern ] || stateless=false
      start "$log" "$INTEROP/bin/everything-server" "-stateless=$stateless" "-http=127.0.0.1:$port"
      SERVER_URL=http://127.0.0.1:$port/
      ;;
    *) die "no server $name" ;;
  esac
  wait_port "$port" "$log"
}

# start_replicas PORT LOG [FLAG...]: runs $REPLICAS bridges over one Redis, and at the port a balancer that sends each request
# to another of them. Prints nothing; what it starts logs to LOG, LOG.1 and so on.
start_replicas() {
  local front=$1 log=$2 port redis i urls=()
  shift 2
  redis=$(free_port)
  start "$log.redis" redis-server --port "$redis" --bind 127.0.0.1 --appendonly no --save '' --dir "${OUT:?}"
  wait_port "$redis" "$log.redis"
  for ((i = 1; i <= REPLICAS; i++)); do
    port=$(free_port)
    TASKBRIDGE_SECRET=a-secret-that-all-replicas-share start "$log.$i" "$BRIDGE" serve --listen "127.0.0.1:$port" --admin off \
      --store "redis://127.0.0.1:$redis/0" --set 'secrets=["${TASKBRIDGE_SECRET}"]' "$@"
    wait_port "$port" "$log.$i"
    urls+=("http://127.0.0.1:$port")
  done
  start "$log" "$BALANCER" "127.0.0.1:$front" "${urls[@]}"
  wait_port "$front" "$log"
}

# start_bridge LOG [FLAG...]: runs the bridge, or REPLICAS of them, in front of SERVER_URL, or of what the flags name, if there are backends among
# them; sets LEGACY_URL and MODERN_URL, the faces of the backend `default`.
start_bridge() {
  local port log=$1
  shift
  [[ " $* " == *" --backend "* ]] || set -- --backend "default=$SERVER_URL" "$@"
  port=$(free_port)
  if [ "${REPLICAS:-1}" -gt 1 ]; then
    start_replicas "$port" "$log" "$@"
  else
    start "$log" "$BRIDGE" serve --listen "127.0.0.1:$port" --admin off --store memory: "$@"
    wait_port "$port" "$log"
  fi
  LEGACY_URL=http://127.0.0.1:$port/legacy/default
  MODERN_URL=http://127.0.0.1:$port/modern/default
}
