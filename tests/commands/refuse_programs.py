"""refuse_programs.py ERRNO COMMAND...: runs a command with a filter of system calls, which refuses to load
BPF programs. The errno is ERRNO, such as EACCES or EINVAL, which the kernel's verifier also returns."""
import ctypes
import errno
import os
import platform
import struct
import sys

BPF_CALL = {'x86_64': 321, 'aarch64': 280}[platform.machine()]
BPF_PROG_LOAD = 5
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16  # in struct seccomp_data


class Filter(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('instructions', ctypes.c_char_p)]


def main():
    refusal = RET_ERRNO | getattr(errno, sys.argv[1])
    code = b''.join(struct.pack('HBBI', *line) for line in (
        (LOAD, 0, 0, NUMBER),
        (JUMP_EQUAL, 0, 3, BPF_CALL),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_EQUAL, 0, 1, BPF_PROG_LOAD),
        (RETURN, 0, 0, refusal),
        (RETURN, 0, 0, RET_ALLOW),
    ))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
                  ctypes.byref(Filter(len(code) // 8, code))) != 0:
        sys.exit(f'no filter of system calls: {os.strerror(ctypes.get_errno())}')
    os.execvp(sys.argv[2], sys.argv[2:])


main()
