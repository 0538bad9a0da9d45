"""Reads a page of `camp check --report`, for the command tests.

page(path) raises when the HTML is not well-formed: each element is closed by its own end tag.
"""
import base64
import hashlib
import html.parser

VOID = {'meta', 'link', 'br', 'hr', 'img', 'input'}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []        # the open elements, each with its attributes
        self.tags = []        # the tags of all elements
        self.attributes = []  # (tag, name, value)
        self.policy = ''
        self.styles = []
        self.tables = {}      # id -> rows: {column: text or number}
        self.texts = []       # (tag, text)
        self.pictures = []    # {'title', 'desc', 'dots', 'lines', 'text'}
        self.columns = []
        self.row = None

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if names.get('http-equiv') == 'Content-Security-Policy':
            self.policy = names['content']
        if tag == 'svg':
            self.pictures.append({'title': '', 'desc': '', 'dots': 0, 'lines': 0, 'text': []})
        if tag == 'table':
            self.rows = self.tables[names['id']] = []
            self.columns = []
        if tag == 'th':
            self.columns.append(names['data-column'])
        if tag == 'tr':
            self.row = []
        if tag == 'td':
            self.row.append(None)
        if tag == 'data':
            self.row[-1] = float(names['value'])
        clipped = any('clip-path' in dict(a) for _, a in self.open)
        if tag == 'circle' and clipped and names.get('fill') == '#c7590a':
            self.pictures[-1]['dots'] += 1
        if tag == 'polyline' and clipped:
            self.pictures[-1]['lines'] += 1
        if tag not in VOID:
            self.open.append((tag, attributes))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            raise ValueError(f'</{tag}> closes {self.open[-1:]} at {self.getpos()}')
        self.open.pop()
        if tag == 'tr' and self.row:
            self.rows.append(dict(zip(self.columns, self.row, strict=True)))

    def handle_data(self, text):
        within = [tag for tag, _ in self.open]
        if not within:
            return
        if within[-1] == 'style':
            self.styles.append(text)
        if 'svg' in within and within[-1] in ('title', 'desc'):
            self.pictures[-1][within[-1]] = text
        if 'svg' in within and within[-1] == 'text':
            self.pictures[-1]['text'].append(text)
        if within[-1] == 'td':
            self.row[-1] = None if text == '-' else text
        if text.strip() and within[-1] != 'style':
            self.texts.append((within[-1], text.strip()))

    def hashes(self):
        """The hashes that the policy must allow: one for each style sheet."""
        return {"'sha256-" + base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() + "'"
                for s in self.styles}


def page(path):
    parser = Page()
    with open(path, encoding='utf-8') as file:
        parser.feed(file.read())
    parser.close()
    if parser.open:
        raise ValueError(f'not closed: {parser.open}')
    return parser
