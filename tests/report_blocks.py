"""report_blocks.py REPORT.html: prints the blocks of the report's stream as "type: payload", if the payload is JSON."""
import base64
import re
import struct
import sys
import zlib

with open(sys.argv[1], encoding='utf-8') as file:
    page = file.read()
found = re.findall(r'<script id="camp-data" type="application/octet-stream">([^<]*)</script>', page)
assert len(found) == 1 and page.rstrip().endswith('</html>') and '<!--camp-data-->' not in page
data = zlib.decompress(base64.b64decode(found[0], validate=True))
while data:
    size, kind = struct.unpack_from('<II', data)
    print(kind, 'frame' if kind == 3 else data[8:8 + size].decode())
    data = data[8 + (size + 7) // 8 * 8:]
