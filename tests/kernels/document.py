"""The table of docs/kernels.md: a row for each law, a column for each kernel."""
import re

from kernel_list import TREE

DOCUMENT = TREE / 'docs/kernels.md'
START, END = '<!-- table: written by tests/kernels/run --write -->', '<!-- end of the table -->'
MARKS = {True: 'yes', False: 'no'}


def table(results):
    """The lines of the table, and below it the reasons why laws were not tested."""
    reasons, rows = {}, {}
    for column, (_, _, verdicts) in enumerate(results):
        for verdict in verdicts:
            mark = MARKS.get(verdict.holds)
            if mark is None:
                number = reasons.setdefault(general(verdict.text), len(reasons) + 1)
                mark = f'– [{number}]'
            rows.setdefault(verdict.law, [''] * len(results))[column] = mark
    lines = ['| law | ' + ' | '.join(kernel.name for kernel, _, _ in results) + ' |', '|---' * (len(results) + 1) + '|']
    lines += [f'| {law} | ' + ' | '.join(marks) + ' |' for law, marks in rows.items()]
    lines += ['', '| kernel | release | what it is |', '|---|---|---|']
    lines += [f'| {kernel.name} | {release} | {kernel.about} |' for kernel, release, _ in results]
    lines += ['', 'Why a law was not tested:', '']
    lines += [f'{number}. {reason}.' for reason, number in reasons.items()]
    return lines


def general(reason):
    """A reason without the numbers of this run."""
    return re.split(r': [-0-9]', reason)[0].strip()


def parts():
    text = DOCUMENT.read_text()
    before, rest = text.split(START)
    old, after = rest.split(END)
    return before, old, after


def write(results):
    before, _, after = parts()
    DOCUMENT.write_text(before + START + '\n\n' + '\n'.join(table(results)) + '\n\n' + END + after)


def differs(results):
    """Compares the laws and kernels of the document with those of the results. Returns None or what differs.
    Verdicts are not compared, because a row that time decides may be too uncertain to judge in one run only."""
    def names(lines):
        rows = [[cell.strip() for cell in line.split('|')[1:-1]] for line in lines if line.startswith('| ')]
        return {*rows[0], *(row[0] for row in rows)} if rows else set()

    difference = names(parts()[1].splitlines()) ^ names(table(results))
    return (f'docs/kernels.md and the results differ in {", ".join(sorted(difference))}: tests/kernels/run --write'
            if difference else None)
