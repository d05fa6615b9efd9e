# What a document's blocks run in, before the first of them: a shell of a reader who pastes one block after the other. The runner sets OUT
# (a folder for outputs), URL (where the server will listen) and PORT.

# The output of each block, by the line of its fence.
__begin() { exec 3>&1 4>&2 >"$OUT/$1.out" 2>&1; }
__end() { exec >&3 2>&4; }

# A command that fails is noted, and the next one is run, as in a terminal.
set -o pipefail
trap '__failed $? $LINENO' ERR
__failed() { echo "$2 $1" >>"$OUT/failures"; }

# The two npm commands that are not run as they are; all others are. With NPM_ITSELF, as the README is run, `npm start` is
# npm's; else the server is started at once, since npm takes longer than most commands of the guide.
npm() {
  case "$*" in
    ci) ;; # node_modules and dist are those of the working tree
    start) __start ;;
    *) command npm "$@" ;;
  esac
}

# `npm start` holds a terminal of its own, with Ctrl-C for what ran there. It is over once the server answers. What the first start tells
# its reader to paste is pasted.
__start() {
  __stop
  # The first start of a store tells its reader a key, a moment after it is ready.
  local told=yes
  if [ ! -e "${STORE_DIR:-store}/format" ] && [ -z "${SVC_API_KEY:-}${STORE:-}" ]; then told=no; fi
  set -m # a process group of its own
  # exec: what is waited for when it is to stop is the server, and not a shell around it.
  if [ -n "${NPM_ITSELF:-}" ]; then exec npm start; else exec node dist/src/main.js; fi >"$OUT/server.log" 2>&1 &
  set +m
  echo $! >"$OUT/server.pid"
  until curl -sf -o /dev/null "$URL/ready" && { [ $told = yes ] || grep -q '^  curl ' "$OUT/server.log"; }; do
    if ! kill -0 "$(cat "$OUT/server.pid")" 2>/dev/null; then
      cat "$OUT/server.log"
      return 1
    fi
    sleep 0.2
  done
  local hint
  hint=$(sed -n '/^  export /,/^$/p; /^  curl /,/^$/p' "$OUT/server.log")
  if [ -z "$hint" ]; then return 0; fi
  eval "$hint" >"$OUT/hint.out"
  grep -q '^{"count":1,' "$OUT/hint.out" || { cat "$OUT/hint.out"; return 1; }
}

__stop() {
  [ -f "$OUT/server.pid" ] || return 0
  kill -TERM -- -"$(cat "$OUT/server.pid")" 2>/dev/null
  wait "$(cat "$OUT/server.pid")" 2>/dev/null
  # npm may end before the server, which has something to write yet when it answers no more.
  while kill -0 -- -"$(cat "$OUT/server.pid")" 2>/dev/null; do sleep 0.1; done
  rm -f "$OUT/server.pid"
}
trap __stop EXIT
