# SPDX-License-Identifier: MIT
"""The chapter on limits of attempts. It needs a kernel of its own, since a container has only those
controllers that its host has not taken: qemu boots a Debian that mmdebstrap makes, and what
limits_guest.py tells there is checked here.
"""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BOOTS = 900             # s, for all of it; without KVM every instruction is translated
PACKAGES = ("linux-image-cloud-amd64", "initramfs-tools", "systemd-sysv", "dbus", "udev", "procps", "python3")
NEEDED = {"qemu-system-x86_64": "qemu-system-x86", "mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs"}
SERVICE = """[Unit]
After=multi-user.target
[Service]
ExecStart=/bin/sh -c 'stty -F /dev/ttyS1 raw; python3 /root/limits_guest.py > /dev/ttyS1 2>&1; systemctl poweroff -f -f'
"""


class Missing(Exception):
    """Why there is no machine."""


def suite():
    words = Path("/etc/os-release").read_text().split("VERSION_CODENAME=")
    return words[1].split()[0] if len(words) > 1 else "stable"


def depends(package):
    """What the package needs, without versions: dpkg -i finds out about those."""
    text = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
    return sorted(word.split("|")[0].split("(")[0].strip() for word in text.split(","))


def make_root(package, kept):
    """The archive of a root, made once."""
    wanted = ",".join((*PACKAGES, *depends(package)))
    tar, note = kept / "root.tar", kept / "packages"
    if tar.exists() and note.exists() and note.read_text() == f"{suite()} {wanted}":
        return tar
    kept.mkdir(exist_ok=True)
    note.unlink(missing_ok=True)
    done = subprocess.run(["mmdebstrap", "--variant=minbase", f"--include={wanted}", suite(), tar],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"mmdebstrap: {done.stderr.strip().splitlines()[-1]}")
    note.write_text(f"{suite()} {wanted}")
    return tar


def make_disk(package, second, kept, directory):
    root, disk = directory / "root", directory / "disk"
    root.mkdir()
    subprocess.run(["tar", "-xf", make_root(package, kept), "-C", root, "--exclude=./dev/*"], check=True)
    kernel, initrd = (next(root.glob(f"boot/{name}-*")) for name in ("vmlinuz", "initrd.img"))
    shutil.copy(package, root / "root/first.deb")
    (root / "root/second.deb").write_bytes(second)
    shutil.copy(Path(__file__).with_name("limits_guest.py"), root / "root")
    (root / "etc/systemd/system/limits.service").write_text(SERVICE)
    with disk.open("wb") as file:
        file.truncate(2 << 30)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", root, disk], check=True)
    return kernel, initrd, disk


def has_kvm():
    """Without one of these KVM is there in name only."""
    flags = Path("/proc/cpuinfo").read_text().split()
    return os.access("/dev/kvm", os.R_OK | os.W_OK) and ("vmx" in flags or "svm" in flags)


def told_by_machine(package, second):
    """Lines that it has printed."""
    missing = sorted(name for command, name in NEEDED.items() if shutil.which(command) is None)
    if missing:
        raise Missing(f"install {' '.join(missing)}")
    if os.uname().machine != "x86_64":
        raise Missing("it is written for x86-64")
    with tempfile.TemporaryDirectory(prefix="rld-limits-") as name:
        directory = Path(name)
        kernel, initrd, disk = make_disk(package, second, package.parent.parent / "boot-root", directory)
        told = directory / "told"
        accel = ["-accel", "kvm", "-cpu", "host"] if has_kvm() else ["-accel", "tcg,thread=multi", "-cpu", "max"]
        with package.with_name("limits.log").open("wb") as console:
            subprocess.run(
                ["qemu-system-x86_64", *accel, "-m", "1500", "-smp", "2", "-display", "none", "-nic", "none",
                 "-no-reboot", "-serial", "stdio", "-serial", f"file:{told}", "-kernel", kernel, "-initrd", initrd,
                 "-drive", f"file={disk},format=raw,if=virtio,cache=unsafe", "-append",
                 "root=/dev/vda rw console=ttyS0 quiet no_timer_check panic=-1 systemd.wants=limits.service"],
                stdin=subprocess.DEVNULL, stdout=console, stderr=console, timeout=BOOTS, check=False)
        return told.read_text(errors="replace").splitlines()


def limits(story, package, second):
    try:
        lines = told_by_machine(package, second)
    except Missing as why:
        story.skip("limits", str(why))
        return
    except (OSError, subprocess.SubprocessError) as error:
        story.check("limits", False, repr(error))
        return
    for line in lines:
        if line.startswith("["):
            story.check(*json.loads(line))
    story.check("the machine came to its end", "end" in lines, lines[-20:])
