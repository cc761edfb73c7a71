#!/bin/bash
# The first process of a Linux kernel of its own, in user mode: it exports a directory by its NFS
# server, mounts that by its NFS client, and runs the commands of $folder/job there. It sees this
# machine's files and cannot change them; only $folder can be written.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib/nfs
mkdir -p /var/lib/nfs/{v4recovery,rpc_pipefs,sm} /run/{export,rpcbind,lock,mounted,folder}
touch /var/lib/nfs/{etab,rmtab}
mount -t hostfs none /run/folder -o "$folder"
exec > /run/folder/log 2>&1
ip link set lo up

modules=/usr/lib/uml/modules/$(uname -r)
load() {
    grep "/$1\.ko:" "$modules/modules.dep" | tr -d : | tr ' ' '\n' | tac | while read -r module; do
        insmod "$modules/$module" 2> /dev/null
    done
}
load nfsv3
load nfsd

mount -t nfsd nfsd /proc/fs/nfsd
mount -t rpc_pipefs none /var/lib/nfs/rpc_pipefs
rpcbind -w
exportfs -o rw,no_root_squash,fsid=1,insecure,no_subtree_check 127.0.0.1:/run/export
rpc.nfsd --no-nfs-version 4 2
rpc.mountd --no-udp
# Nothing of files is kept, as in the mirror.
options=vers=3,nolock,proto=tcp,acregmin=0,acregmax=0,acdirmin=30,lookupcache=none
mount -t nfs -o "$options" 127.0.0.1:/run/export /run/mounted && . /run/folder/job
umount /run/mounted
poweroff -f
