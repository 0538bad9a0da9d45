"""prometheus_stub.py [SOCKET]: a server that answers like a Prometheus without series, or with errors. The
path of a request selects the answer. Prints the port, and serves until the program is ended."""
import base64
import http.server
import socketserver
import sys
import time

EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


class Stub(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in {'Content-Length': str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        kind = self.path.split('/')[1]
        says = self.headers.get('Authorization', '')
        basic = 'Basic ' + base64.b64encode(b'camp:ses@me').decode()
        if kind == 'slow':
            time.sleep(30)
        elif kind == 'away':
            self.answer(302, b'', Location='http://127.0.0.1:1/')
        elif kind == 'html':
            self.answer(200, b'<html>')
        elif kind == 'large':
            self.answer(200, b'[' + b'1,' * (33 << 20))
        elif kind == 'tenant':
            self.answer(200 if self.headers.get('X-Scope-OrgID') == 'blue' else 401, EMPTY)
        elif kind in ('token', 'basic'):
            good = says == ('Bearer sesame' if kind == 'token' else basic)
            self.answer(200 if good else 401, EMPTY)
        else:
            self.answer(200, EMPTY)

    def address_string(self):
        return 'local'

    def log_message(self, *_):
        pass


class OnSocket(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


server = (OnSocket(sys.argv[1], Stub) if len(sys.argv) > 1
          else http.server.ThreadingHTTPServer(('127.0.0.1', 0), Stub))
print(server.server_address[1] if len(sys.argv) == 1 else 0, flush=True)
server.serve_forever()
