"""document_links.py FOLDER: checks that the file of each relative link in FOLDER/*.md and FOLDER/docs/*.md exists in
FOLDER, and has a heading for its #name. Prints each link that does not. The exit status is 1 when there is such a link,
or no link at all."""
import pathlib
import re
import sys
from urllib.parse import unquote

LINK = re.compile(r'\]\(([^)\s]+)\)')
FENCED = re.compile(r'^```.*?^```', re.DOTALL | re.MULTILINE)
HEADING = re.compile(r'^#+ +(.*)$', re.MULTILINE)


def anchors(document):
    """The anchors that GitHub gives to a document's headings."""
    return {re.sub(r'[^\w\- ]', '', heading.strip().lower()).replace(' ', '-')
            for heading in HEADING.findall(FENCED.sub('', document.read_text(encoding='utf-8')))}


def fault_of(link, document, root):
    """Returns what is wrong with a link, or None."""
    path, _, anchor = unquote(link).partition('#')
    target = (document.parent / path).resolve() if path else document
    if not target.is_relative_to(root):
        return 'leads out of the folder'
    if not target.exists():
        return 'does not exist'
    if anchor and anchor not in anchors(target):
        return 'has no such heading'
    return None


def main(folder):
    root, count, faults = pathlib.Path(folder).resolve(), 0, 0
    for document in sorted([*root.glob('*.md'), *root.glob('docs/*.md')]):
        for link in LINK.findall(FENCED.sub('', document.read_text(encoding='utf-8'))):
            if re.match(r'[a-z]+:', link):
                continue
            count += 1
            fault = fault_of(link, document, root)
            if fault:
                faults += 1
                print(f'{document.relative_to(root)}: {link} {fault}')
    print(f'{count} links')
    return faults > 0 or count == 0


sys.exit(main(*sys.argv[1:]))
