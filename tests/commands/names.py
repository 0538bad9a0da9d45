"""names.py FOLDER: lets camp print names of each nasty kind, which come from all places where names come
from, by its commands in their formats. Prints each problem, and the number of combinations of a kind, a
place, a command and a format. The status is 1 if there is any problem. $CAMP is the program."""

import concurrent.futures
import os
import subprocess
import sys

import name_carriers
import printed

CAMP = os.environ['CAMP']
SHOWN_PROBLEMS = 40


def expected(name, form):
    """The name as a reader of the format gets it. JSON has each name as it is."""
    text = ''.join(each if not '\udc80' <= each <= '\udcff' else '\ufffd'
                   for each in name.decode(errors='surrogateescape'))
    if form == 'csv':
        text = ''.join(each if each in '\n\t' else '\ufffd' if printed.UNPRINTABLE.match(each) else each
                       for each in text)
    if form in ('prometheus', 'openmetrics'):
        return ''.join(
            ''.join(f'\\x{byte:02x}' for byte in each.encode(errors='surrogateescape'))
            if each != '\n' and printed.UNPRINTABLE.match(each) or '\udc80' <= each <= '\udcff' else each
            for each in name.decode(errors='surrogateescape'))
    return text


def run(case):
    """Runs camp once. Returns the problems, as (place, kind, problem)."""
    result = subprocess.run([os.fsencode(CAMP)] + case.words, capture_output=True, timeout=60,
                            check=False, stdin=subprocess.DEVNULL, cwd=case.folder)
    command, output = case.words[0].decode(errors='replace'), result.stdout
    if case.output is not None and result.returncode in (0, 3):
        with open(case.output, 'rb') as file:
            output = file.read()
        problems = printed.find_bytes(result.stdout, 'text')
    else:
        problems = []
    texts, more = printed.read(output, case.form if result.returncode in (0, 3) else 'text')
    problems += more + [f'on stderr: {each}' for each in printed.find_bytes(result.stderr, 'text')]
    problems += [f'on stderr: a line of its own {line[:60]!r}' for line in result.stderr.split(b'\n')[:-1]
                 if not line.startswith(b'camp')]
    if result.returncode not in case.statuses:
        problems.append(f'status {result.returncode}: {result.stderr[:300]!r}')
    found = [(case.place, case.kind, f'{command} {case.form}: {each}')
             for each in problems]
    for kind, name in case.wanted.items():
        if not any(expected(name, case.form) in text for text in texts):
            found.append((case.place, kind, f'{command} {case.form}: no {name!r}'))
    return found


def main():
    folder = os.path.realpath(sys.argv[1])
    os.umask(0o022)
    with name_carriers.Carriers(folder) as carriers:
        cases = list(carriers.cases())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            problems = [problem for found in pool.map(run, cases) for problem in found]
    by_place = {}
    for case in cases:
        by_place[case.place] = by_place.get(case.place, 0) + case.combinations
    for problem in problems[:SHOWN_PROBLEMS]:
        print(*problem)
    for place, count in by_place.items():
        wrong = sum(problem[0] == place for problem in problems)
        print(f'{place}: {count} combinations, {wrong} problems')
    wrong = [problem[1] for problem in problems]
    print('problems by kind:', ', '.join(f'{kind} {wrong.count(kind)}' for kind in sorted(set(wrong))))
    print(f'{sum(by_place.values())} combinations, {len(problems)} problems')
    sys.exit(1 if problems else 0)


main()
