"""What each format may hold: checks of an output of camp, for names.py. Each function returns the
problems that it found, as short texts."""

import csv
import html.parser
import io
import json
import re
import xml.etree.ElementTree

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as prometheus

# Control characters (C0, DEL, C1), controls of direction, separators, invisible ones, tags.
UNPRINTABLE = re.compile('[\0-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff'
                         '\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]')
# Other formats keep the line feed only. The page itself joins words by U+2060.
KEPT = {'csv': '\n\t', 'html': '\n\t\u2060', 'svg': '\n\t'}
NUMBER = re.compile(r'[+-]?[0-9.]+(e[+-]?[0-9]+)?')


def find_bytes(data, form):
    """Invalid UTF-8, and unprintable characters."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return [f'invalid UTF-8: {data[max(0, error.start - 10):error.end + 10]!r}']
    found = {each for each in UNPRINTABLE.findall(text) if each not in KEPT.get(form, '\n')}
    return [f'raw {ascii(each)}' for each in sorted(found)]


def texts_in(value):
    """All texts of a JSON value, keys as well."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, str):
        yield value


def constant(text):
    raise ValueError(f'{text} is no JSON')


def read_json(text):
    texts = set()
    for line in text.split('\n')[:-1]:
        texts.update(texts_in(json.loads(line, parse_constant=constant)))
    return texts, []


def read_csv(text):
    """Cells of a CSV. A spreadsheet would compute a cell that starts like a formula."""
    rows = list(csv.reader(io.StringIO(text, newline=''), strict=True))
    cells = [cell for row in rows for cell in row]
    found = [f'a row of {len(row)} cells below {len(rows[0])}' for row in rows
             if len(row) != len(rows[0])]
    found += [f'the formula {cell[:20]!r}' for cell in cells
              if cell and cell[0] in '=+-@\t\r\n' and not NUMBER.fullmatch(cell)]
    return {re.sub("^'('*[=+@\t\r\n-])", r'\1', cell, flags=re.DOTALL) for cell in cells}, found


def read_metrics(parse):
    def read(text):
        families = list(parse(text))
        labels = [label for family in families for sample in family.samples
                  for label in sample.labels.values()]
        return set(labels), [] if families else ['no metrics']
    return read


class Page(html.parser.HTMLParser):
    """The elements of a page."""

    def __init__(self):
        super().__init__()
        self.scripts, self.texts = [], set()

    def handle_starttag(self, tag, attrs):
        self.scripts += [tag] if tag in ('script', 'img', 'iframe') else []
        self.scripts += [name for name, _ in attrs if name.startswith('on')]

    def handle_data(self, data):
        self.texts.add(data)


def read_html(text):
    """The page has its own scripts (the program, and its data), and no others."""
    page = Page()
    page.feed(text)
    return page.texts, [f'the element {each}' for each in page.scripts if each != 'script'] + (
        ['a script'] if page.scripts.count('script') > 3 else [])


def read_svg(text):
    root = xml.etree.ElementTree.fromstring(text)
    bad = [each.tag for each in root.iter() if each.tag.endswith('script')]
    return {each.text for each in root.iter() if each.text}, bad


READERS = {'json': read_json, 'csv': read_csv, 'html': read_html, 'svg': read_svg,
           'prometheus': read_metrics(prometheus.text_string_to_metric_families),
           'openmetrics': read_metrics(openmetrics.text_string_to_metric_families)}


def read(data, form):
    """The texts (names, headings, values) of an output, and its problems."""
    problems = find_bytes(data, form)
    try:
        texts, more = READERS.get(form, lambda text: (set(), []))(data.decode(errors='replace'))
    except Exception as error:  # any parser's
        return set(), problems + [f'no {form}: {error}'[:200]]
    return texts, problems + more
