# Bare systems of Debian in folders, for what must not depend on this machine nor change it: the
# package is built in one, and tried in others. To be sourced; the caller runs as root, in a mount
# namespace of its own (`own_namespaces "$@"` sees to both), so that nothing stays mounted.
#
# A root is a stack of layers, each made once and then kept below the store: `base-<suite>` comes
# from debootstrap, every other one is what a command changed in those below it. open_root puts an
# empty layer on top that goes away with close_root. Packages that apt fetches are kept as well.

root_store=${DEBIAN_ROOTS:-$repository/.cache/roots}
root_store_shown=$root_store
root=
root_top=

root_fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# Starts the script again as root in namespaces of its own: mounts, and processes, which end with it.
# The store is at /mnt there: its path may have blanks, and debootstrap and others stumble over one.
own_namespaces() {
    if [[ ${OWN_NAMESPACES:-} == "$$ $PPID" ]]; then
        mkdir -p "$root_store"
        mount --bind "$root_store" /mnt
        root_store=/mnt
        return
    fi
    local start=(unshare --mount --propagation private --pid --fork --kill-child
        /bin/bash -c 'mount -t proc proc /proc && export OWN_NAMESPACES="1 0" && exec "$@"' own)
    ((EUID == 0)) || start=(sudo --preserve-env=DEBIAN_ROOTS "${start[@]}")
    exec "${start[@]}" "$0" "$@"
}

# Sources of Debian itself, of the suite that is asked for, and how to reach them; not those of
# others that this machine may have.
copy_apt_configuration() {
    local suite=$1 to=$2 own file
    own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    mkdir -p "$to/etc/apt/sources.list.d" "$to/etc/apt/apt.conf.d"
    : > "$to/etc/apt/sources.list"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        if [[ -f $file ]] && grep -qE "debian.*\b$own\b|^Suites:.*\b$own\b" "$file"; then
            sed "s/\b$own\b/$suite/g" "$file" > "$to$file"
        fi
    done
    apt-config dump | grep -iE '^Acquire::(https?::|Check-)' > "$to/etc/apt/apt.conf.d/90host" || true
    printf '%s\n' 'APT::Install-Recommends "false";' 'APT::Sandbox::User "root";' \
        'Acquire::Languages "none";' 'Acquire::Retries "3";' 'Dpkg::Use-Pty "false";' \
        'Binary::apt::APT::Keep-Downloaded-Packages "true";' \
        'Debug::NoLocking "true";' > "$to/etc/apt/apt.conf.d/91root"
    # No lock: nobody else uses this root, and those that fetch into the same folder of packages at the
    # same time need not wait. The root is thrown away if the machine stops: it need not be on the disk at each step.
    echo force-unsafe-io > "$to/etc/dpkg/dpkg.cfg.d/unsafe-io"
    cp -L /etc/resolv.conf /etc/hosts "$to/etc/"
}

# The certificates of this machine, if it has some of its own, let apt reach mirrors over https.
copy_certificates() {
    compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null || return 0
    cp /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/"
    chroot "$1" update-ca-certificates >/dev/null 2>&1
}

# The first mirror of Debian that this machine's own apt uses; it has the other suites as well.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" \
        "Codename: $(. /etc/os-release && echo "${VERSION_CODENAME:-}")" | head -n 1
}

# make_base <suite>
make_base() {
    local suite=$1 base=$root_store/base-$1 from
    local log=$root_store/debootstrap-$suite.log packages=$root_store/packages-$suite
    [[ ! -d $base ]] || return 0
    command -v debootstrap >/dev/null ||
        root_fail "debootstrap is missing; fix: apt-get install debootstrap"
    from=$(debian_mirror)
    [[ -n $from ]] || root_fail "apt knows no mirror of Debian; fix: apt-get update"
    mkdir -p "$packages/partial"
    rm -rf --one-file-system "$base.new"
    debootstrap --variant=minbase --include=ca-certificates --cache-dir="$(realpath "$packages")" \
        "$suite" "$base.new" "$from" > "$log" 2>&1 ||
        root_fail "debootstrap failed; see $root_store_shown/${log##*/}"
    copy_apt_configuration "$suite" "$base.new"
    copy_certificates "$base.new"
    mv "$base.new" "$base"
}

# Where the file system cannot stack folders, the root is a copy.
stack() {
    local upper=$1 lower=
    shift
    local layer
    for layer in "$@"; do lower=$layer${lower:+:$lower}; done
    mkdir -p "$root_top/work" "$upper" "$root"
    mount -t overlay overlay \
        -o "lowerdir=$lower,upperdir=$upper,workdir=$root_top/work" "$root" 2>/dev/null && return
    for layer in "$@" "$upper"; do cp -a --reflink=auto "$layer/." "$root/"; done
    root_is_copy=true
}

# open_root <suite> <layer...>: mounts a root on those layers (base first) at $root.
open_root() {
    local suite=$1 layers=() layer
    shift
    for layer in base "$@"; do layers+=("$root_store/$layer-$suite"); done
    # What a run that was killed has left.
    find "$root_store" -mindepth 1 -maxdepth 1 \( -name 'root.*' -o -name 'image.*' \) -mtime +0 \
        -exec rm -rf --one-file-system {} +
    root_top=$(mktemp -d "$root_store/root.XXXXXX")
    root=$root_top/root
    root_is_copy=false
    chmod 755 "$root_top"
    stack "$root_top/upper" "${layers[@]}"
    mkdir -p "$root/dev/shm" "$root/dev/pts" "$root/proc" "$root_store/packages-$suite/partial"
    mount -t tmpfs -o mode=1777,size=2g tmpfs "$root/dev/shm"
    mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts "$root/dev/pts"
    mount -t proc proc "$root/proc"
    mount --bind "$root_store/packages-$suite" "$root/var/cache/apt/archives"
}

unmount_root() {
    local point
    for point in var/cache/apt/archives proc dev/pts dev/shm; do umount "$root/$point"; done
    $root_is_copy || umount "$root"
}

close_root() {
    [[ -n $root_top ]] || return 0
    # Lazily: a server that a failed test left may still end.
    umount -R --lazy "$root" 2>/dev/null || true
    # Never crosses into something that is still mounted.
    rm -rf --one-file-system "$root_top"
    root_top=
    root=
}
trap close_root EXIT
trap 'exit 1' HUP INT TERM

inside() {
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
        LC_ALL=C.UTF-8 CI=true DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

# As inside, with the loopback interface as the only network: ports are free, and nothing is fetched.
inside_offline() {
    unshare --net /bin/bash -c 'ip link set lo up && exec "$@"' offline \
        env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        TERM=dumb LC_ALL=C.UTF-8 CI=true chroot "$root" "$@"
}

# with_store_of <suite> <command...>: of two scripts that make something of the same suite at the same
# time, the other one waits, and finds it.
with_store_of() {
    local lock
    mkdir -p "$root_store"
    exec {lock}>"$root_store/lock-$1"
    flock "$lock"
    "${@:2}"
    exec {lock}>&-
}

# make_layer <suite> <name> <key> <layers below>... -- <command...>: keeps what the command changes
# in a root of the layers below as a layer. One that was made with the same key is taken as it is.
make_layer() {
    with_store_of "$1" make_layer_alone "$@"
}

make_layer_alone() {
    local suite=$1 key=$3 below=() kept=$root_store/$2-$1
    shift 3
    while [[ $1 != -- ]]; do below+=("$1"); shift; done
    shift
    [[ ! -d $kept || $(cat "$kept.key" 2>/dev/null) != "$key" ]] || return 0
    make_base "$suite"
    open_root "$suite" "${below[@]}"
    "$@"
    rm -rf --one-file-system "$kept"
    unmount_root
    if $root_is_copy; then mv "$root" "$kept"; else mv "$root_top/upper" "$kept"; fi
    echo "$key" > "$kept.key"
    close_root
}

install_inside() {
    inside apt-get update -q
    inside apt-get install -y -q "$@"
}
