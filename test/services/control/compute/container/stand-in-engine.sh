#!/bin/sh
# Takes the command line of Docker, notes what it was called with, and runs an image's command as a process of this
# machine. Its folder is in CONTAINER_STAND_IN; a file `kind` there makes it say that it is Podman, a file `silent` that
# its server is away, `listless` that it can't list containers, `clinging` that it removes no volume. NODE names a Node.js, AGENT the program of the image `agent`.
cd "$CONTAINER_STAND_IN" || exit 1
mkdir -p calls containers networks volumes
call=calls/$(date +%s%N)-$$
printf '%s\0' "$@" >"$call.args"
env -0 >"$call.env"

fail() {
  echo "Error: $1" >&2
  exit "${2:-1}"
}
last() { eval "printf '%s' \"\${$#}\""; }
alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null; }
pid_of() { cat "containers/$1/pid" 2>/dev/null; }
end() {
  pid=$(pid_of "$1")
  if alive "$pid"; then kill -s KILL -- "-$pid" 2>/dev/null || kill -s KILL "$pid"; fi
}

create() {
  shift
  entry='' labels='' name='' file='' published='' inherited=''
  while case $1 in --*) true ;; *) false ;; esac; do
    case $1 in
    --name=*) name=${1#*=} ;;
    --env-file=*) file=${1#*=} ;;
    --env=*) inherited="$inherited ${1#*=}" ;;
    --label=*) labels="$labels${1#*=}
" ;;
    --entrypoint=*) entry=${1#*=} ;;
    --publish=*) published=yes ;;
    esac
    shift
  done
  image=$1
  shift
  case $image in
  agent | registry.test/agent:1.2) set -- "$NODE" "$AGENT" ;;
  fading)
    # The same agent, as long as there is no file of the name that it is told.
    set -- /bin/sh -c '[ ! -e "$FAKE_DIES_IF" ] && exec "$@"; echo "looking for the model"; echo "The model is gone." >&2; exit 3' fading "$NODE" "$AGENT"
    ;;
  tool) [ -n "$entry" ] && set -- "$entry" "$@" || set -- /bin/sh "$@" ;;
  sleeper) set -- /bin/sh -c "sleep 60" sleeper ;;
  *) fail "pull access denied for $image, repository does not exist" 125 ;;
  esac
  mkdir "containers/$name" || exit 125
  cat "$file" >"containers/$name/environment"
  for variable in $inherited; do
    printf '%s' "$(printenv "$variable")" >"containers/$name/inherited-$variable"
  done
  printf '%s' "$labels" >"containers/$name/labels"
  printf '%s\n' "$@" >"containers/$name/command"
  printf '%s' "$published" >"containers/$name/published"
  printf '{"Status":"created","ExitCode":0}' >"containers/$name/state"
  echo "$name"
}

start() {
  own=$CONTAINER_STAND_IN/containers/$1
  [ -d "$own" ] || fail "no such container: $1"
  set --
  while IFS= read -r word; do set -- "$@" "$word"; done <"$own/command"
  while IFS= read -r line; do set -- "$line" "$@"; done <"$own/environment"
  for path in "$own"/inherited-*; do
    [ -e "$path" ] && set -- "${path##*/inherited-}=$(cat "$path")" "$@"
  done
  set -- "STAND_IN_PORT_FILE=$own/port" "$@"
  [ -n "$(cat "$own/published")" ] && set -- "$@" --stand-in-port
  printf '{"Status":"running","ExitCode":0}' >"$own/state"
  setsid env -i "$@" &
  child=$!
  echo "$child" >"$own/pid"
  wait "$child"
  code=$?
  oom=false
  grep -q '^FAKE_OOM=' "$own/environment" 2>/dev/null && oom=true
  [ -d "$own" ] && printf '{"Status":"exited","ExitCode":%s,"OOMKilled":%s}' "$code" "$oom" >"$own/state"
  exit "$code"
}

named() {
  label=${1#--filter=label=}
  for path in "$2"/*; do
    grep -qsxF -- "$label" "$path/labels" && echo "${path##*/}"
  done
}

thing() {
  kind=${1}s
  verb=$2
  shift 2
  case $verb in
  inspect)
    [ -d "$kind/$1" ] || fail "no such $kind: $1"
    if [ -e kind ]; then echo '[{"subnets":[{"gateway":"127.0.0.1"}]}]'; else echo '[{"IPAM":{"Config":[{"Gateway":"127.0.0.1"}]}}]'; fi
    ;;
  create)
    name=$(last "$@")
    mkdir "$kind/$name" || exit 1
    for word in "$@"; do case $word in --label=*) echo "${word#*=}" >>"$kind/$name/labels" ;; esac; done
    ;;
  rm)
    [ -e clinging ] && fail 'volume is in use'
    for word in "$@"; do case $word in -*) ;; *) rm -rf "${kind:?}/$word" ;; esac; done
    ;;
  ls) named "$(last "$@")" "$kind" ;;
  *) fail "unknown command $verb" ;;
  esac
}

case $1 in
info)
  [ -e silent ] && fail 'Cannot connect to the daemon. Is it running?'
  if [ -e kind ]; then echo '{"host":{"security":{"rootless":false}}}'; else echo '{"ServerVersion":"28.0"}'; fi
  ;;
network | volume) thing "$@" ;;
create) create "$@" ;;
init) [ -d "containers/$2" ] || fail 'no such container' ;;
start) start "$3" ;;
port)
  [ -s "containers/$2/port" ] || fail 'no public port'
  echo "127.0.0.1:$(cat "containers/$2/port")"
  ;;
inspect) cat "containers/$(last "$@")/state" 2>/dev/null || fail 'no such container' ;;
stop)
  seconds=$3
  shift 3
  for name in "$@"; do
    pid=$(pid_of "$name")
    alive "$pid" && kill -s TERM "$pid"
    left=$((seconds * 20))
    while alive "$pid" && [ "$left" -gt 0 ]; do
      sleep 0.05
      left=$((left - 1))
    done
    end "$name"
  done
  # Until whoever started them has noted their end.
  sleep 0.05
  ;;
rm)
  shift 2
  for name in "$@"; do
    end "$name"
    rm -rf "containers/${name:?}" || fail "removal of container $name is in progress"
  done
  ;;
ps)
  [ -e listless ] && fail 'the store is locked'
  named "$(last "$@")" containers
  ;;
*) fail "unknown command $1" ;;
esac
exit 0
