"""Another program as a child that sees and reaches little: `command` gives what to start in its place.

On Linux, Landlock lets it read the system's programs, libraries and fonts, and write in one folder: it sees neither
the home nor the secrets of who starts it. A network namespace of its own, where the kernel grants one, and Landlock's
rules for TCP keep it off the network. Limits hold on memory, processor time and the size of a file.
"""

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

UNCONFINED = 77  # exit status where the kernel has no Landlock: nothing was started
_BOOT = "import sys; sys.path.append(sys.argv[1]); from graph.knowledge.confinement import _run; _run(*sys.argv[2:])"
_HOME = str(Path(__file__).resolve().parents[2])
_READABLE = (
    "/usr", "/lib", "/lib64", "/bin", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime", "/etc/libreoffice",
    "/var/cache/fontconfig", "/var/lib/libreoffice", "/var/spool/libreoffice",
    "/dev/urandom", "/dev/random", "/proc/self", "/proc/cpuinfo", "/proc/meminfo",
)  # fmt: skip
_WRITABLE = ("/dev/null",)
# Of linux/landlock.h: what a rule may allow, and the three system calls, which have these numbers everywhere.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _MAKE_SOCKET, _TRUNCATE = 1, 2, 4, 8, 1 << 9, 1 << 14
_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_RULES_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}  # 5 adds the control of devices
_NO_TCP = 3  # neither bind nor connect
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NEW_USER, _NEW_NET, _NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_NO_NEW_PRIVILEGES, _DIE_WITH_PARENT = 38, 1


def command(argv: Sequence[str], *, writable: Path, memory: int, seconds: int, file_bytes: int) -> list[str]:
    """`memory`: bytes of address space. `seconds` of processor time. The first of `argv` is a path; the folder two
    above the program itself is readable, too. Exits with UNCONFINED where it cannot be confined."""
    limits = [str(memory), str(seconds), str(file_bytes)]
    return [sys.executable, "-I", "-B", "-c", _BOOT, _HOME, str(writable), *limits, *argv]


def _run(writable: str, memory: str, seconds: str, file_bytes: str, *argv: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DIE_WITH_PARENT, 9, 0, 0, 0)
    for kind, most in (
        (resource.RLIMIT_AS, int(memory)),
        (resource.RLIMIT_CPU, int(seconds)),
        (resource.RLIMIT_FSIZE, int(file_bytes)),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    libc.unshare(_NEW_USER | _NEW_NET | _NEW_IPC)  # refused in many containers; then Landlock's rules remain
    program = Path(argv[0]).resolve()
    if not _landlocked(libc, (*_READABLE, str(program.parent.parent)), (*_WRITABLE, writable)):
        sys.exit(UNCONFINED)
    os.execv(program, [str(program), *argv[1:]])


def _landlocked(libc: ctypes.CDLL, readable: Sequence[str], writable: Sequence[str]) -> bool:
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    handled = _RULES_BY_VERSION[min(version, 3)]
    network = struct.pack("=Q", _NO_TCP) if version >= 4 else b""
    scoped = struct.pack("=Q", 3) if version >= 6 else b""  # no signals and no abstract sockets to others
    rules = struct.pack("=Q", handled) + network + scoped
    ruleset = libc.syscall(_CREATE, rules, ctypes.c_size_t(len(rules)), 0)
    allowed = [(path, _EXECUTE | _READ_FILE | _READ_DIR) for path in readable] + [(path, handled) for path in writable]
    allowed.append(("/tmp", _MAKE_SOCKET))
    for path, access in allowed:
        if not Path(path).exists():
            continue
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        access &= handled if Path(path).is_dir() else _FILE & handled
        if libc.syscall(_ADD, ruleset, 1, struct.pack("=Qi", access, place), 0):
            return False
        os.close(place)
    return bool(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(_RESTRICT, ruleset, 0) == 0)
