"""Runs a program on a kernel that answers some system calls with an error, by a filter of seccomp (seccomp(2), linux/filter.h).

without.py RULE... -- PROGRAM ARGUMENT...   where a rule is CALL=ERRNO, or CALL:FIRST_ARGUMENT=ERRNO
"""
import ctypes
import errno
import os
import platform
import struct
import sys

CALLS = {
    "x86_64": {"bpf": 321, "perf_event_open": 298, "fsopen": 430},
    "aarch64": {"bpf": 280, "perf_event_open": 241, "fsopen": 430},
}[platform.machine()]
# linux/bpf_common.h: BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K; linux/seccomp.h: struct seccomp_data, actions.
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16
ALLOW, ERROR = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2


def program(rules):
    steps = []
    for rule in rules:
        call, answer = rule.split("=")
        call, _, argument = call.partition(":")
        code = ERROR | getattr(errno, answer)
        steps.append((LOAD, 0, 0, NUMBER))
        if argument:
            # Past the rest of this rule where it does not fit.
            steps += [(EQUALS, 0, 3, CALLS[call]), (LOAD, 0, 0, FIRST_ARGUMENT), (EQUALS, 0, 1, int(argument))]
        else:
            steps.append((EQUALS, 0, 1, CALLS[call]))
        steps.append((RETURN, 0, 0, code))
    steps.append((RETURN, 0, 0, ALLOW))
    return steps


def main():
    end = sys.argv.index("--")
    steps = program(sys.argv[1:end])
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    # struct sock_fprog
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER, ctypes.addressof(header), 0, 0)):
        if libc.prctl(*(ctypes.c_ulong(value) for value in call)) != 0:
            sys.exit(f"without: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])


main()
