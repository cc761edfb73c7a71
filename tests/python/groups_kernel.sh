#!/bin/bash
# The first process of a Linux kernel of its own, in user mode, whose control groups are all of the
# second version: it runs the commands of $folder/job. It sees this machine's files and cannot
# change them; only $folder can be written.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t ext4 /dev/ubda /var/lib
mkdir /run/folder
mount -t hostfs none /run/folder -o "$folder"
exec > /run/folder/log 2>&1
mount -t cgroup2 cgroup /sys/fs/cgroup
ip link set lo up
cd /run
. /run/folder/job
poweroff -f
