#!/usr/bin/env python3
"""tests/servers/rogue_odbc.py [WORD...]: attacks on camp by an ODBC driver that lies (rogue_odbc.c), and a table of what
came of them (rogue.py). The words are groups of attacks or parts of their names. There is no server: the listener of
rogue.py stays unused."""
from pathlib import Path

from rogue import Attack, Driver, camp, environment_of

QUERY, ORACLE = ('--query', 'select time, entity, busy_ms'), ('--interval', '200ms')
OPEN_S = 15  # for the first snapshot of Oracle's sessions; docs/sessions.md
MODULE = Path(camp()).parents[1] / 'tests/servers/rogue_odbc.so'

ATTACKS = []


def attack(group, lie, words, **options):
    ATTACKS.append(Attack(group, f'{lie}: {"query" if words is QUERY else "Oracle"}', lambda peer: None, lie=lie, words=words,
                          **options))


def each(group, lies, **options):
    """The same lies for a query, and for the statements on Oracle's sessions, which ignores some of them."""
    for lie in lies:
        attack(group, lie, QUERY, **options)
        attack(group, lie, ORACLE, **{**options, 'status': (0, 1, 2), 'says': '', 'promise_s': OPEN_S})


each('columns', ('no columns', '-1 columns'), status=(2,), says='it has no result')
each('columns', ('32767 columns',), says='32767 columns')
each('columns', ('1 column', 'more columns each time', 'no names', 'names without an end', 'names of a negative length',
                 'names with escapes'), status=(0, 1))
for all_columns in ('', 'all '):
    each('values', [all_columns + lie for lie in (
        'values without data', 'values of length 10 that are not there', 'values without a terminator', 'values with escapes',
        'NULL')], status=(0, 1))
    each('values', [all_columns + lie for lie in ('values of no total', 'values of length 2^62 that are not there')],
         says='gives no text')
    each('values', [all_columns + lie for lie in ('values without end', 'values that are longer than the buffer')],
         says='more text than 4 MB')
    each('values', [all_columns + lie for lie in ('values of a negative length', 'values of the lowest length')],
         says='a negative length')
    each('values', [all_columns + 'an unknown result'], says='')
each('errors', [f'{where} {what}' for where in ('error', 'refusal', 'fetch error')
                for what in ('with escapes', 'without a terminator', 'without a text')])
for name in ('rows without end', 'empty rows without end'):
    attack('rows', name, ORACLE, promise_s=OPEN_S, says='more than 10000 rows')
attack('rows', 'rows without end', QUERY, promise_s=OPEN_S, says='more than camp keeps')
# A query has no time limit, but a signal ends it. unixODBC itself reads errors to their end.
for name in ('connecting stalls', 'executing stalls', 'fetching stalls', 'error without end', 'refusal without end',
             'fetch error without end'):
    attack('stalls', name, QUERY, promise_s=3, says='interrupted', interrupted_s=2)
    attack('stalls', name, ORACLE, promise_s=OPEN_S, says='does not answer')


def client(attacked, _listener, folder):
    options = attacked.client
    (folder / 'odbcinst.ini').write_text(f'[Rogue]\nDriver={MODULE}\n')
    limit = options.get('interrupted_s')
    command = [*(['/usr/bin/timeout', '--preserve-status', '--signal=INT', str(limit)] if limit else []), camp(), 'top',
               '--count', '1', *options.get('words', QUERY),
               '--from', f'odbc:DRIVER=Rogue;LIE={options.get("lie", "")}']
    return command, environment_of(folder, ODBCSYSINI=str(folder), ODBCINI=str(folder / 'odbc.ini'))


if __name__ == '__main__':
    Driver('ODBC', ATTACKS, lambda peer: None, client).main()
