"""Judges what the guests printed: a verdict for each law.

Sums, counts, bytes and order must be exact. Times come from the exact guest (guest.py), and must be within the bounds
of `camp verify`, which are as wide there as on a computer. In an exact guest of two CPUs, the rows of the whole machine
are not judged.
"""
import dataclasses
import json
import re

PINGS, PING_BYTES = 20, 1000 + 8 + 20  # with the headers of ICMP and IP
DISK_BYTES, WRITTEN_BYTES = 64 << 20, 16 << 20


@dataclasses.dataclass
class Verdict:
    """`holds` is None if the law was not tested; `text` then is the reason, otherwise the numbers."""

    law: str
    holds: bool | None
    text: str = ''


def parts_of(text):
    """{name: (output, stderr, status)} of a script."""
    parts = {}
    for name, output, status in re.findall(r'^##### (.+?)\n(.*?)^##### status (\d+)$', text,
                                           re.MULTILINE | re.DOTALL):
        errors = re.findall(r'^stderr: (.*)$', output, re.MULTILINE)
        parts[name] = (re.sub(r'^stderr: .*\n', '', output, flags=re.MULTILINE).strip(), errors, int(status))
    return parts


def judge_doctor(parts):
    """`camp doctor` says which tiers can run, and whether microstates can be measured. Commands show whether
    that is true. Status 3 means that a tier ran, and lost something."""
    doctor = json.loads(parts['doctor'][0])
    wrong = []
    for tier in doctor['tiers']:
        status = parts[f'check {tier["name"]}'][2]
        if tier['available'] != (status in (0, 3)):
            wrong.append(f'tier {tier["name"]}: {tier["available"]}, but camp check ends with {status}')
    if doctor['microstates'] != (parts['top'][2] == 0):
        wrong.append(f'microstates: {doctor["microstates"]}, but camp top ends with {parts["top"][2]}')
    return Verdict('doctor', not wrong, '; '.join(wrong))


def judge_microstates(parts, kernel):
    """Whether the kernel accepts the programs of microstates."""
    output, errors, status = parts['top']
    return Verdict('microstates', (status == 0) == kernel.microstates, '; '.join(errors) or output[:200])


def judge_namespace(parts):
    """In a PID namespace, camp time finds the three processes of a command, and their states add up."""
    output, errors, status = parts['namespace']
    if status != 0 or parts['top'][2] != 0:
        return Verdict('pid-namespace', None if parts['top'][2] != 0 else False, '; '.join(errors))
    rows = json.loads(output)['executables']
    counts = {row['name']: row['processes'] for row in rows}
    exact = all(row['unaccounted_ns'] == 0 for row in rows)
    return Verdict('pid-namespace', exact and sum(counts.values()) == 3, str(rows))


def judge_quota(parts):
    """The throttled time of a thread is within 2 % of that of its group, where the kernel has the clock of it."""
    events = {event['name']: event['present'] for event in json.loads(parts['doctor'][0])['events']}
    output, errors, status = parts['quota']
    if parts['top'][2] != 0 or not events['throttled clock']:
        return Verdict('throttled-v2', None, 'this kernel does not show the time of throttled threads')
    if status != 0:
        return Verdict('throttled-v2', False, '; '.join(errors) or output[:200])
    group, rows = output.split('\n', maxsplit=1)
    expected_ns = 1000 * int(group)
    found_ns = sum(row['throttled_ns'] for row in json.loads(rows)['executables'])
    return Verdict('throttled-v2', abs(found_ns - expected_ns) <= 0.02 * expected_ns,
                   f'{found_ns} of {expected_ns} ns')


def judge_trap(parts, kernel):
    """Whether the time of traps is measured where the kernel can trace functions, and is absent elsewhere. `camp
    doctor` says which."""
    if not kernel.microstates:
        return Verdict('trap', None, 'there are no microstates on this kernel')
    events = {event['name']: event['present'] for event in json.loads(parts['doctor'][0])['events']}
    rows = json.loads(parts['top'][0])['entities']
    found = {'trap_ns' in row['states'] for row in rows} | {events['fexit handle_mm_fault']}
    return Verdict('trap', found == {kernel.traps}, f'camp doctor and the rows of camp top: {found}')


def judge_transfers(parts):
    """Nothing else uses the disk "plain" and the loopback device, so the counters grow by exact numbers."""
    numbers = [int(word) for word in parts['transfers'][0].split()]
    names = ('disk-bytes-read', 'disk-bytes-written', 'loopback-bytes', 'loopback-packets')
    expected = (DISK_BYTES, WRITTEN_BYTES, 2 * PINGS * PING_BYTES, 2 * PINGS)
    count = len(names)
    if len(numbers) != 2 * count:
        return [Verdict(name, False, f'camp get: {parts["transfers"]}') for name in names]
    return [Verdict(name, after - before == bytes_, f'{after - before} of {bytes_}')
            for name, before, after, bytes_ in zip(names, numbers[:count], numbers[count:], expected)]


def judge_row(row, kernel):
    """A row of `camp verify`."""
    name, unit = row['row'], row['unit']
    if row['verdict'] == 'not tested':
        return Verdict(name, None, row['reason'])
    if kernel.exact_cpus > 1 and re.fullmatch('cpu-.*-machine', name):
        return Verdict(name, None, 'the two CPUs of this guest take turns, and so do interrupts and programs')
    return Verdict(name, row['verdict'] == 'pass', f'{row["reported"]:.10g} of {row["expected"]:.10g} {unit} '
                   f'(allowed: -{row["allowed_below"]:.4g} to +{row["allowed_above"]:.4g})')


def judge_live(parts):
    """The laws of tests/live that ran in the guest. A program with a skipped test counts as not tested."""
    return [Verdict(name, None if status == 0 and 'SKIPPED' in output else status == 0,
                    ' '.join(re.findall('skipped, not passed: (.*)', output)) if status == 0 else output)
            for name, (output, _, status) in parts.items() if name.startswith(('causes_', 'states_'))]


def judge(text, exact_text, kernel):
    """The release of the kernel, and the verdicts of all laws."""
    parts = parts_of(text)
    verify = json.loads(parts_of(exact_text)['verify'][0])
    return parts['release'][0], [judge_doctor(parts), judge_microstates(parts, kernel),
                                 judge_trap(parts, kernel), judge_namespace(parts), judge_quota(parts),
                                 *judge_transfers(parts),
                                 *(judge_row(row, kernel) for row in verify['rows']), *judge_live(parts)]
