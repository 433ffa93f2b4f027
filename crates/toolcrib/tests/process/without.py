"""Runs a command on a machine that lacks something: `without.py landlock,namespaces -- COMMAND…`.

The kernel refuses the system calls in question, as a kernel without them or a container that forbids them would.
"""
import ctypes
import os
import struct
import sys

NUMBERS = {"x86_64": (0xC000003E, 272, 56, 435, 165), "aarch64": (0xC00000B7, 97, 220, 435, 40)}
ARCH, UNSHARE, CLONE, CLONE3, MOUNT = NUMBERS[os.uname().machine]
LANDLOCK = (444, 445, 446)
EPERM, ENOSYS, NEWUSER = 1, 38, 0x10000000

LOAD, JEQ, JSET, RET = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


def refuse(number, errno):
    return [(JEQ, 0, 1, number), (RET, 0, 0, ERRNO | errno)]


def program(missing):
    steps = [(LOAD, 0, 0, 4), (JEQ, 1, 0, ARCH), (RET, 0, 0, ALLOW), (LOAD, 0, 0, 0)]
    if "landlock" in missing:
        for number in LANDLOCK:
            steps += refuse(number, ENOSYS)
    if "namespaces" in missing:
        steps += refuse(UNSHARE, EPERM) + refuse(CLONE3, ENOSYS) + refuse(MOUNT, EPERM)
        steps += [(JEQ, 0, 3, CLONE), (LOAD, 0, 0, 16), (JSET, 0, 1, NEWUSER | 0x20000), (RET, 0, 0, ERRNO | EPERM)]
    return steps + [(RET, 0, 0, ALLOW)]


def main():
    missing, command = set(sys.argv[1].split(",")), sys.argv[3:]
    code = b"".join(struct.pack("HBBI", *step) for step in program(missing))
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    filters = Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    assert libc.prctl(38, 1, 0, 0, 0) == 0, "no_new_privs"
    assert libc.prctl(22, 2, ctypes.byref(filters), 0, 0) == 0, os.strerror(ctypes.get_errno())
    os.execvp(command[0], command)


main()
