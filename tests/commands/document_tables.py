"""document_tables.py FOLDER: checks the tables of FOLDER/*.md and FOLDER/docs/*.md. Below its first row, a table has a
row of dashes, and each row has as many cells as the first one; otherwise GitHub shows no table, or drops cells. A line
that starts with "|" is a row; "\\|" is no end of a cell. Prints each fault and the number of tables. The exit status is
1 when there is a fault, or no table at all."""
import itertools
import pathlib
import re
import sys

FENCED = re.compile(r'^```.*?^```', re.DOTALL | re.MULTILINE)
BORDER = re.compile(r'(?<!\\)\|')
DASHES = re.compile(r'\|( *:?-+:? *\|)+')


def tables_of(document):
    """Yields each table of a document as a list of (line number, row)."""
    text = FENCED.sub(lambda block: '\n' * block.group().count('\n'), document.read_text(encoding='utf-8'))
    lines = enumerate((line.rstrip() for line in text.splitlines()), 1)
    for is_table, rows in itertools.groupby(lines, lambda line: line[1].startswith('|')):
        if is_table:
            yield list(rows)


def faults_of(table):
    """Yields (line number, what is wrong) for each fault of a table."""
    first, width = table[0][0], len(BORDER.findall(table[0][1])) - 1
    if len(table) < 2 or not DASHES.fullmatch(table[1][1]):
        yield first, 'the first row of a table, and no row of dashes is below it'
        return
    for number, row in table:
        cells = len(BORDER.findall(row)) - 1
        if not row.endswith('|') or cells != width:
            yield number, f'{cells} cells, and the first row of the table has {width}'


def main(folder):
    root, count, faults = pathlib.Path(folder), 0, 0
    for document in sorted([*root.glob('*.md'), *root.glob('docs/*.md')]):
        for table in tables_of(document):
            count += 1
            for number, fault in faults_of(table):
                faults += 1
                print(f'{document.relative_to(root)}:{number}: {fault}')
    print(f'{count} tables')
    return faults > 0 or count == 0


sys.exit(main(*sys.argv[1:]))
