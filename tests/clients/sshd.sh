# shellcheck shell=bash
# OpenSSH servers on the loopback interface, which relay-serve connects to as to other hosts.
# Sourced by run.sh; needs `here` and what outside.sh sets. Works as root, and as a user without terminals.

sshd_pids=()

# start_hosts FOLDER: makes the folder, starts the hosts of ssh/project.kdl.in, and builds fleet.relay there. Beside it
# is `hosts` with a line for each: name, port, public key, and the process and log of its server.
start_hosts() {
    local name
    sshd=$(command -v sshd || echo /usr/sbin/sshd)
    [[ -x $sshd ]] || { echo "no $sshd: install openssh-server" >&2; return 2; }
    # OpenSSH separates its privileges there.
    [[ $(id -u) != 0 ]] || mkdir -p /run/sshd
    mkdir -m 700 "$1"
    ssh-keygen -q -t ed25519 -N '' -C '' -f "$1/key"
    sed -e "s|@user@|$(id -un)|g" -e "s|@key@|$1/key|g" "$here/ssh/project.kdl.in" >"$1/project.kdl"
    for name in web db far; do start_host "$1" "$name"; done
    build "$1/project.kdl" "$1/fleet.relay"
}

# start_host FOLDER NAME: starts one server with a key of its own.
start_host() {
    local folder=$1/$2 port options=() pid pin
    mkdir "$folder"
    ssh-keygen -q -t ed25519 -N '' -C '' -f "$folder/key"
    pin=$(cut -d' ' -f1,2 "$folder/key.pub")
    # The folder for temporary files is writable for everyone, which StrictModes refuses. With another HOME, shells run
    # no start files of the account and leave no history there; RELAY_HOST tells the hosts apart. The log names the
    # targets of connections that are passed on; with all details it would also come with the output of commands.
    cat >"$folder/settings" <<SETTINGS
ListenAddress 127.0.0.1
HostKey $folder/key
PidFile none
AuthorizedKeysFile $1/key.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
PermitUserRC no
PrintLastLog no
PrintMotd no
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
SetEnv HOME=$folder RELAY_HOST=$2
LogVerbose serverloop.c:*
SETTINGS
    # Newer servers lock out an address that does not log in, as who asks for keys alone.
    ! "$sshd" -t -f "$folder/settings" -o PerSourcePenalties=no 2>/dev/null || options=(-o PerSourcePenalties=no)
    : >"$folder/log"
    for _ in {1..20}; do
        # Below the ports that clients get.
        port=$((20000 + RANDOM % 12000))
        "$sshd" -D -e -f "$folder/settings" -p "$port" "${options[@]}" 2>"$folder/log" </dev/null &
        pid=$!
        until grep -q "^Server listening on .* port $port" "$folder/log"; do
            kill -0 "$pid" 2>/dev/null || continue 2
            sleep 0.05
        done
        sshd_pids+=("$pid")
        sed -i -e "s|@$2_port@|$port|g" -e "s|@$2_pin@|$pin|g" "$1/project.kdl"
        echo "$2 $port $pin $pid $folder/log" >>"$1/hosts"
        return
    done
    echo "sshd does not start:" >&2
    cat "$folder/log" >&2
    return 2
}

# Ends the servers, and all that they started: a connection is a process of its own, which outlives its server.
stop_hosts() {
    local pid
    for pid in "${sshd_pids[@]}"; do
        # shellcheck disable=SC2046
        kill $(with_descendants "$pid") 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    sshd_pids=()
}

with_descendants() {
    local child
    echo "$1"
    for child in $(pgrep -P "$1"); do with_descendants "$child"; done
}
