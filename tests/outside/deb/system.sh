# shellcheck shell=bash
# A minimal Debian whose systemd runs in namespaces of its own.

system_pid=

# make_system RELEASE FOLDER
make_system() {
    local release=$1 folder=$2
    debootstrap --variant=minbase --include=ca-certificates,dbus,systemd,systemd-sysv "$release" "$folder" \
        >"$folder.debootstrap" || {
        tail -n 20 "$folder.debootstrap" >&2
        return 1
    }
    cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
    apt-config dump Acquire --format '%F "%v";%n' | grep -E '^Acquire::(https?|Check-[A-Za-z-]+)\b' \
        >"$folder/etc/apt/apt.conf.d/90host" || true
    # Locale and time zone of the packages do not matter.
    echo 'APT::Install-Recommends "false";' >"$folder/etc/apt/apt.conf.d/91small"
}

# start_system FOLDER: returns when systemd has started the default target.
start_system() {
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child bash -euo pipefail -c '
        root=$1
        ip link set lo up
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        # As systemd-nspawn does: devices of its own, and settings of the kernel that it cannot change.
        mount --bind "$root/proc/sys" "$root/proc/sys"
        mount -o remount,bind,ro "$root/proc/sys"
        mount -t tmpfs tmpfs "$root/dev" -o mode=755
        for device in full null random tty urandom zero; do
            cp -a "/dev/$device" "$root/dev/"
        done
        mkdir "$root/dev/pts" "$root/dev/shm"
        ln -s pts/ptmx "$root/dev/ptmx"
        ln -s /proc/self/fd "$root/dev/fd"
        mount -t devpts devpts "$root/dev/pts" -o newinstance,ptmxmode=0666,mode=620
        mount -t sysfs sysfs "$root/sys" -o ro
        mount -t tmpfs tmpfs "$root/run" -o mode=755
        groups=$root/sys/fs/cgroup
        if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
            mount -t cgroup2 cgroup2 "$groups"
        else
            mount -t tmpfs tmpfs "$groups" -o mode=755
            mkdir "$groups/systemd"
            mount -t cgroup -o none,name=systemd cgroup "$groups/systemd"
        fi
        # In a chroot, the kernel refuses the user namespaces of the units. The mounts of credentials propagate.
        cd "$root"
        pivot_root . mnt
        exec /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1 \
            bash -c "cd / && umount -l /mnt && mount --make-rshared / && exec /usr/lib/systemd/systemd --system"
    ' system "$1" >"$1.boot" 2>&1 </dev/null &
    system_pid=$!
    local waited state
    for ((waited = 0; waited < 600; waited++)); do
        state=$(in_system systemctl is-system-running 2>/dev/null || true)
        case $state in running | degraded) return 0 ;; esac
        kill -0 "$system_pid" 2>/dev/null || break
        sleep 0.2
    done
    echo "error: systemd did not start; its state is ${state:-unknown}" >&2
    return 1
}

# in_system COMMAND...: runs it as root in the system.
in_system() {
    local first
    first=$(cat "/proc/$system_pid/task/$system_pid/children")
    nsenter --target "${first%% *}" --mount --pid --net --uts --ipc --cgroup \
        /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

# The kernel ends all processes of a process namespace with its first process.
stop_system() {
    [ -n "$system_pid" ] || return 0
    kill -KILL "$system_pid" 2>/dev/null || true
    wait "$system_pid" 2>/dev/null || true
    system_pid=
}
