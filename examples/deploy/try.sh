#!/usr/bin/env bash
# Tries docs/deploy.md: builds, signs and serves a bundle on three servers on loopback, then rotates and revokes keys.
#
#     examples/deploy/try.sh FOLDER [STATIC]
#
# FOLDER has the binaries `relay` and `relay-serve`; STATIC is a `relay-serve` that is linked statically, for an empty root.
# Needs bash, curl and git. What the machine cannot do is skipped with a line that begins with `skip`.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "${1:?the folder with the binaries}" && pwd)
static=${2:+$(realpath "$2")}
tls=$here/../../tests/serve/tls
export PATH="$bin:$PATH" CI=true LC_ALL=C RELAY_LOG=info NO_COLOR=1
unset XDG_STATE_HOME GIT_DIR GIT_WORK_TREE

dir=$(mktemp -d)
export HOME=$dir
cd "$dir"
declare -A process=() url=()

clean_up() {
    local status=$? name
    for name in "${!process[@]}"; do kill "${process[$name]}" 2>/dev/null || true; done
    wait
    if ((status != 0)); then
        echo "FAIL: status $status"
        tail -n 12 ./*/log 2>/dev/null || true
    fi
    cd /
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

part() { echo "-- $*"; }
fail() { echo "FAIL: $*" >&2; exit 1; }

# within COMMAND ...: repeats a command until it succeeds, for at most 10 s.
within() {
    local end=$((SECONDS + 10))
    until "$@"; do
        ((SECONDS < end)) || fail "not within 10 s: $*"
        sleep 0.1
    done
}

each() { for name in one two three; do "$@" "$name"; done; }

# --- servers -------------------------------------------------------------------------------------

# replace FILE NAME...: copies beside and renames, as the document says.
replace() {
    local file=$1 to
    for to in "${@:2}"; do
        cp "$file" "$to.new"
        mv "$to.new" "$to"
    done
}

deploy() { replace "$1" {one,two,three}/srv/my-team.relay; }
trust() { replace "$1" {one,two,three}/etc/trust.toml; }

# The example's server.toml with the folders and the port of this server. The keys come from settings.toml.
configure() {
    sed -e "/^\[\[briefing.keys\]\]/,\$d" -e 's|^listen = .*|listen = "127.0.0.1:0"|' \
        -e "s|/var/lib/relay|$dir/$1/lib|" -e "s|/var/log/relay|$dir/$1/audit|" "$here/server.toml" >"$1/server.new"
    cat settings.toml >>"$1/server.new"
    mv "$1/server.new" "$1/etc/server.toml"
}

set_up() {
    mkdir -p "$1"/{etc/tls,etc/keys,srv,audit}
    cp "$tls"/{cert,key}.pem "$1/etc/tls/"
    chmod 600 "$1/etc/tls/key.pem"
    install -m 600 briefing-1.key "$1/etc/keys/briefing-1.key"
    configure "$1"
}

listens() {
    url[$1]=$(sed -n 's|.* at https://127.0.0.1:\([0-9]*\)/mcp$|https://localhost:\1|p' "$1/log")
    kill -0 "${process[$1]}" 2>/dev/null || fail "$1 did not start"
    [[ -n ${url[$1]} ]]
}

start() {
    : >"$1/log"
    relay-serve "$1/srv/my-team.relay" --config "$1/etc/server.toml" 2>"$1/log" &
    process[$1]=$!
    within listens "$1"
}

stop() {
    kill "${process[$1]}"
    wait "${process[$1]}" || fail "$1 ended with $?"
    unset "process[$1]"
}

hang_up() { kill -HUP "${process[$1]}"; }

# --- clients -------------------------------------------------------------------------------------

get() { curl --silent --show-error --noproxy '*' --max-time 10 --cacert "$tls/cert.pem" "$@"; }
ready() { get "${url[$1]}/readyz"; }
readiness() { get --output /dev/null --write-out '%{http_code}' "${url[$1]}/readyz"; }
authorization() { printf 'Authorization: Bearer %s\n' "$(cat "$1.api-key")"; }
metrics() { authorization alice | get --fail --header @- "${url[$1]}/metrics"; }

# call SERVER KEY METHOD NAME [ARGUMENTS]: prints the answer and the status of a request by the MCP of 2026-07-28.
call() {
    local meta='"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo":
        { "name": "try", "version": "1" }, "io.modelcontextprotocol/clientCapabilities": {}'
    local params='{ "name": "'"$4"'", "arguments": '"${5:-{\}}"', "_meta": { '"$meta"' } }'
    authorization "$2" | get --header @- --write-out '\n%{http_code}\n' --header 'Content-Type: application/json' \
        --header 'Accept: application/json, text/event-stream' --header 'MCP-Protocol-Version: 2026-07-28' \
        --header "Mcp-Method: $3" --header "Mcp-Name: $4" "${url[$1]}/mcp" --data \
        '{ "jsonrpc": "2.0", "id": 1, "method": "'"$3"'", "params": '"$params"' }'
}

# answers SERVER KEY STATUS: a prompt is answered with this status.
answers() { [[ $(call "$1" "$2" prompts/get house-rules | tail -n 1) = "$3" ]]; }
is_served() { [[ $(ready "$2") = *"\"digest\":\"$1\""* && $(readiness "$2") = 200 ]]; }
is_refused() { [[ $(ready "$2") = *"\"last_reload_error\":\""*"$1"* ]]; }
is_revoked() { [[ $(readiness "$1") = 503 && $(ready "$1") = *'"bundle":"revoked"'* ]]; }
digest() { relay verify "$1" --trust "$2" --json | grep -o 'sha256:[0-9a-f]\{64\}' | head -n 1; }
begin() { call "$1" alice tools/call begin_session '{ "tags": ["rollout"] }' | sed -n 's/.*"briefing":"\([^"]*\)".*/\1/p'; }
continues() { call "$1" alice tools/call read_prompts '{ "tags": ["rollout"], "briefing": "'"$2"'" }'; }
secret() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }
commit() { git -C my-team add --all && git -C my-team -c user.name=ci -c user.email=ci@localhost commit --quiet --message "$1"; }

# build KEY ...: a bundle of the commit, signed with these keys.
build() {
    relay build my-team "${@/#/--key=}" --epoch "$(git -C my-team rev-list --count HEAD)" --provenance -o my-team.relay --quiet
}

# --- from CI to three servers --------------------------------------------------------------------

part 'a release key, a bundle of a commit, a check of it'
umask 077
relay keygen -o release >release.toml 2>/dev/null
[[ $(stat --format %a release.key) = 600 ]] || fail 'release.key can be read by others'
relay init my-team >/dev/null 2>&1
git init --quiet my-team
commit first
relay check my-team --strict >/dev/null 2>&1
build release.key
cp release.toml trust.toml
relay verify my-team.relay --trust trust.toml >/dev/null
cp my-team.relay first.relay
first=$(digest first.relay trust.toml)

part 'three servers, one configuration'
relay keygen --api-key alice >alice.toml 2>/dev/null
secret >briefing-1.key
{ printf '[[briefing.keys]]\nid = 1\nkey-file = "keys/briefing-1.key"\n\n'; cat alice.toml; } >settings.toml
each set_up
trust trust.toml
deploy my-team.relay
each start
each is_served "$first"

part 'calls with an API key'
printf 'rk_alice_wrong\n' >wrong.api-key
for name in one two three; do
    answers "$name" alice 200 || fail "$name does not answer"
    answers "$name" wrong 401 || fail "$name does not ask for a key"
    [[ $(get --output /dev/null --write-out '%{http_code}' "${url[$name]}/metrics") = 401 ]] || fail "$name: metrics for anyone"
    [[ $(get "${url[$name]}/healthz") = alive ]] || fail "$name: /healthz"
done

part 'a briefing of one server continues on the others'
briefing=$(begin one)
[[ -n $briefing ]] || fail 'no briefing'
[[ $(continues two "$briefing") = *'"isError":false'* ]] || fail 'two does not accept a briefing of one'

part 'a new bundle, seen by all'
sed -i 's/^title .*//; s/Run the tests/Run all tests/' my-team/prompts/house-rules.md
commit second
build release.key
second=$(digest my-team.relay trust.toml)
deploy my-team.relay
for name in one two three; do
    within is_served "$second" "$name"
    within grep -q "$second is in force" "$name/log"
    [[ $(metrics "$name") = *"relay_bundle_epoch 2"* ]] || fail "$name: metrics"
done

part 'an older bundle is refused, by a running server and at a start'
deploy first.relay
for name in one two three; do within is_refused epoch "$name"; done
each is_served "$second"
stop three
if relay-serve three/srv/my-team.relay --config three/etc/server.toml 2>three/log; then fail 'an older bundle was served'; fi
grep -q epoch three/log || fail 'the refusal does not say why'
deploy my-team.relay
start three

part 'back to it all the same, and forward again'
{ printf 'allow-digests = ["%s"]\n' "$first"; cat release.toml; } >trust.toml
trust trust.toml
deploy first.relay
for name in one two three; do within is_served "$first" "$name"; done
trust release.toml
deploy my-team.relay
for name in one two three; do within is_served "$second" "$name"; done

# --- rotation ------------------------------------------------------------------------------------

part 'another signing key'
relay keygen -o next >next.toml 2>/dev/null
cp release.toml trust.toml
relay trust add trust.toml --key next.pub --min-epoch 2 >/dev/null
trust trust.toml
if relay verify first.relay --trust trust.toml >/dev/null; then fail 'min-epoch'; fi
relay sign my-team.relay --key next.key >/dev/null 2>&1
[[ $(digest my-team.relay trust.toml) = "$second" ]] || fail 'a signature changes the digest'
deploy my-team.relay
sed 's/^version = .*/version = 3/' next.toml >trust.toml
relay verify my-team.relay --trust trust.toml >/dev/null
trust trust.toml
each hang_up
stop two
start two
each is_served "$second"
[[ $(ready one) != *trust_error* ]] || fail 'a restart would refuse the bundle'

part 'another API key'
# The caller stays `alice`: a briefing is valid for its caller, and audit records name the caller.
relay keygen --api-key alice-2 2>/dev/null | sed 's/^principal = .*/principal = "alice"/' >alice-2.toml
cp settings.toml old.toml
cat old.toml alice-2.toml >settings.toml
each configure
each hang_up
for name in one two three; do
    within answers "$name" alice-2 200
    answers "$name" alice 200 || fail "$name: the first key ended too early"
done
{ sed '/^\[\[auth.api-keys\]\]/,$d' old.toml; cat alice-2.toml; } >settings.toml
each configure
each hang_up
for name in one two three; do
    within answers "$name" alice 401
    answers "$name" alice-2 200 || fail "$name: the second key"
done
mv alice-2.api-key alice.api-key

part 'another key of briefings'
briefing=$(begin one)
secret >briefing-2.key
for name in one two three; do install -m 600 briefing-2.key "$name/etc/keys/briefing-2.key"; done
briefing_keys() {
    for id; do printf '[[briefing.keys]]\nid = %s\nkey-file = "keys/briefing-%s.key"\n\n' "$id" "$id"; done
    cat alice-2.toml
}
read_again() { local count; count=$(metrics "$1" | reloads); hang_up "$1"; within has_reloaded "$1" "$count"; }
reloads() { sed -n 's/^relay_reloads_total{.*} //p' | paste -sd+ ; }
has_reloaded() { [[ $(metrics "$1" | reloads) != "$2" ]]; }
for keys in '1 2' '2 1'; do
    # shellcheck disable=SC2086
    briefing_keys $keys >settings.toml
    each configure
    each read_again
    [[ $(continues two "$briefing") = *'"isError":false'* ]] || fail "briefings end with the keys $keys"
done
new=$(begin three)
briefing_keys 2 >settings.toml
each configure
each read_again
[[ $(continues one "$new") = *'"isError":false'* ]] || fail 'briefings of the new key'

part 'another audit file'
for name in one two three; do
    mv "$name/audit/audit.jsonl" "$name/audit/audit.jsonl.1"
    hang_up "$name"
    within test -e "$name/audit/audit.jsonl"
    answers "$name" alice 200 || fail "$name does not answer"
    grep -q '"tool":"prompt:house-rules".*"principal":"alice".*"bundle":"'"$second" "$name/audit/audit.jsonl" || fail "$name: audit"
    [[ $(stat --format %a "$name/audit/audit.jsonl") = 600 ]] || fail "$name: the audit file can be read by others"
done

# --- revocation ----------------------------------------------------------------------------------

part 'a revoked digest ends service, a new bundle begins it again'
relay trust revoke trust.toml my-team.relay --min-epoch 2 >/dev/null
trust trust.toml
for name in one two three; do
    within is_revoked "$name"
    answers "$name" alice 503 || fail "$name serves a revoked bundle"
done
printf '\nAsk before you restart a service.\n' >>my-team/prompts/house-rules.md
commit third
build next.key
third=$(digest my-team.relay trust.toml)
deploy my-team.relay
for name in one two three; do
    within is_served "$third" "$name"
    answers "$name" alice 200 || fail "$name does not answer"
done

part 'a revoked key ends service, a signature by another begins it again'
relay keygen -o last >/dev/null 2>&1
relay trust add trust.toml --key last.pub --min-epoch 3 >/dev/null
relay trust revoke trust.toml next --min-epoch 3 >/dev/null
trust trust.toml
for name in one two three; do within is_revoked "$name"; done
if relay verify my-team.relay --trust trust.toml >/dev/null; then fail 'a revoked key still counts'; fi
relay sign my-team.relay --key last.key >/dev/null 2>&1
deploy my-team.relay
for name in one two three; do within is_served "$third" "$name"; done
each stop

# --- the unit and the container ------------------------------------------------------------------

part 'the unit of systemd'
if command -v systemd-analyze >/dev/null && systemd-analyze --help | grep -q -e --offline; then
    sed "s|/usr/local/bin/relay-serve|$bin/relay-serve|" "$here/relay-serve.service" >relay-serve.service
    said=$(systemd-analyze verify ./relay-serve.service 2>&1) || fail "$said"
    [[ -z $said ]] || fail "$said"
    # 10 is a unit without any protection, 100 the unit of this number.
    systemd-analyze security --offline=true --threshold=15 ./relay-serve.service | tail -n 1
else
    echo 'skip: no systemd-analyze that works offline'
fi

part 'a static server in an empty root'
contain() {
    local root=empty/root
    mkdir -p $root/{etc/relay/tls,etc/relay/keys,srv/relay,var/lib/relay,var/log/relay}
    install -m 755 "$static" $root/relay-serve
    cp "$tls"/{cert,key}.pem $root/etc/relay/tls/
    cp trust.toml $root/etc/relay/
    cp briefing-2.key $root/etc/relay/keys/briefing-1.key
    sed -e 's|^listen = .*|listen = "127.0.0.1:0"|' -e '/^\[\[auth.api-keys\]\]/,$d' "$here/server.toml" >$root/etc/relay/server.toml
    cat alice-2.toml >>$root/etc/relay/server.toml
    replace my-team.relay $root/srv/relay/my-team.relay
    : >empty/log
    unshare --map-user=65532 --map-group=65532 --root=$root /relay-serve /srv/relay/my-team.relay \
        --config /etc/relay/server.toml 2>empty/log &
    process[empty]=$!
    within listens empty
    is_served "$third" empty || fail 'not served'
    answers empty alice 200 || fail 'no answer'
    printf '\nAsk before you stop a service.\n' >>my-team/prompts/house-rules.md
    commit fourth
    build last.key
    replace my-team.relay $root/srv/relay/my-team.relay
    within is_served "$(digest my-team.relay trust.toml)" empty
    stop empty
}
if [[ -z $static ]]; then
    echo 'skip: no static server was given'
elif ! unshare --map-user=65532 --map-group=65532 true 2>/dev/null; then
    echo 'skip: this user may not make user namespaces'
else
    contain
fi

part 'the container'
builder=
for program in podman docker; do
    if command -v $program >/dev/null && $program info >/dev/null 2>&1; then builder=$program && break; fi
done
if [[ -z $static || -z $builder ]]; then
    echo 'skip: neither podman nor docker works here, or no static server was given'
else
    # The last stage of the recipe, around the static server: nothing is downloaded.
    mkdir -p image/image/var/{lib,log}/relay
    install -m 755 "$static" image/image/relay-serve
    sed -n '/^FROM scratch/,$p' "$here/Containerfile" | sed 's|^COPY --from=build /image /|COPY image /|' >image/Containerfile
    $builder build --quiet --file image/Containerfile --tag relay-serve-try image >/dev/null
    $builder run --rm --read-only --cap-drop all --network none relay-serve-try --version
    $builder rmi relay-serve-try >/dev/null
fi
echo "deploy: all of it worked in $SECONDS s"
