"""Compares the names of metrics and labels in queries with a page of camp export.

    metric_names.py documented PAGE DOCUMENT...  each metric of the page is in a table of a document
    metric_names.py used PAGE FILE...            each metric of the queries in the files is on the page, with the labels
                                                 and the values that the queries ask for
    metric_names.py queries FILE...              prints each query of a dashboard, one a line, for any instance and server
    metric_names.py panels FILE...               the panels of a dashboard have their own numbers and places

A file is rules (.yml) or a dashboard (.json). Exit status 0: all is so.
"""
import json
import re
import sys

CLAUSE = re.compile(r'\b(?:by|on|without|ignoring|group_left)\s*\(([^)]*)\)')
SELECTOR = re.compile(r'\b(camp_\w+)(?:\{([^}]*)\})?')
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
# Labels that a scraper adds, those of recording rules, and that of several database servers.
ADDED = {'instance', 'job', 'le', 'server', 'vertex'}


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def texts_of(value, keys):
    """All texts below these keys of a dashboard."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str):
                yield inner
            yield from texts_of(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner, keys)


def queries_of(path):
    if path.endswith('.json'):
        return list(texts_of(json.loads(read(path)), ('expr', 'query')))
    lines = [line for line in read(path).splitlines() if not line.lstrip().startswith('#')]
    text = re.sub(r'(?m)^ *(?:summary|record|alert|- name|- record|- alert): (?:>\n(?: {12,}.*\n?)+|.*)', '', '\n'.join(lines))
    return [text]


def series_of(page):
    """{metric: {label: values}}; a histogram also has the names of its parts."""
    found = {}
    for line in page.splitlines():
        match = re.match(r'(\w+)(?:\{(.*)\})? \S+$', line)
        if match and not line.startswith('#'):
            labels = found.setdefault(match[1], {})
            for name, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ''):
                labels.setdefault(name, set()).add(value)
    return found


def check_used(page, paths):
    series, count = series_of(page), 0
    for path in paths:
        labels = set(ADDED)
        for query in queries_of(path):
            for metric, matchers in SELECTOR.findall(query):
                if metric.endswith('_') or ':' in metric or re.search(rf':{metric}|{metric}:', query):
                    continue  # a recording rule, such as instance:camp_x:rate1m
                assert metric in series, f'{path}: there is no {metric}'
                count += 1
                labels |= series[metric].keys()
                for label, operator, value in MATCHER.findall(matchers):
                    assert label in series[metric].keys() | ADDED, f'{path}: {metric} has no label {label}'
                    if label in ADDED:
                        continue
                    values = series[metric][label]
                    wanted = value in values if operator in ('=', '!=') else any(re.fullmatch(value, one) for one in values)
                    assert wanted, f'{path}: {metric} has no {label}{operator}"{value}", but {values}'
        for query in queries_of(path):
            for clause in CLAUSE.findall(query):
                for label in filter(None, re.split(r'[\s,]+', clause)):
                    assert label in labels, f'{path}: no metric has the label {label} of ({clause})'
    assert count >= 5, 'too few metrics'
    print(count, 'uses of metrics')


def check_documented(page, paths):
    known = set()
    for row in '\n'.join(map(read, paths)).splitlines():
        names = re.findall(r'`(camp_\w+|_\w+)`', row.split('|')[1]) if row.startswith('| `camp_') else []
        family = '_'.join(names[0].split('_')[:2]) if names else ''  # "camp_disk", of which _bytes_total is
        known.update((family, name) if name.startswith('_') else name for name in names)
    for metric in re.findall(r'^# TYPE (\S+)', page, re.M):
        assert metric in known or any(metric.startswith(name[0]) and metric.endswith(name[1])
                                      for name in known if isinstance(name, tuple)), metric


def check_panels(path):
    panels = json.loads(read(path))['panels']
    places = [(x, y) for panel in panels for x in range(panel['gridPos']['x'], panel['gridPos']['x'] + panel['gridPos']['w'])
              for y in range(panel['gridPos']['y'], panel['gridPos']['y'] + panel['gridPos']['h'])]
    assert len({panel['id'] for panel in panels}) == len(panels), 'two panels have one number'
    assert len(set(places)) == len(places) and max(places)[0] < 24, 'panels overlap, or are outside'
    for panel in panels:
        assert panel['title'] and panel['description'] and panel['targets'], panel
        assert all(target['datasource']['uid'] == '${datasource}' for target in panel['targets']), panel


def main(what, *paths):
    if what == 'used':
        check_used(read(paths[0]), paths[1:])
    elif what == 'documented':
        check_documented(read(paths[0]), paths[1:])
    elif what == 'panels':
        for path in paths:
            check_panels(path)
    else:
        for path in paths:
            for query in texts_of(json.loads(read(path)), ('expr',)):
                for name, value in (('$__rate_interval', '10s'), ('$instance', '.*'), ('$server', '.*')):
                    query = query.replace(name, value)
                print(query)


if __name__ == '__main__':
    main(*sys.argv[1:])
