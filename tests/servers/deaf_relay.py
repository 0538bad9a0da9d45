#!/usr/bin/env python3
"""tests/servers/deaf_relay.py FOLDER SERVER-FOLDER: relays the Unix socket of FOLDER to that of a PostgreSQL server, but
keeps requests to cancel a statement, and never closes their connections. Prints a line when it listens, and a line for
each such request."""
import os
import socket
import struct
import sys
import threading

CANCEL_REQUEST = 80877102
NAME = '.s.PGSQL.5432'


def copy(source, target):
    while data := source.recv(1 << 16):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


def serve(client, path):
    first = client.recv(1 << 16)
    if len(first) >= 8 and struct.unpack('>I', first[4:8])[0] == CANCEL_REQUEST:
        print('cancel', flush=True)
        threading.Event().wait()
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    server.sendall(first)
    threading.Thread(target=copy, args=(server, client), daemon=True).start()
    copy(client, server)


listener = socket.socket(socket.AF_UNIX)
listener.bind(os.path.join(sys.argv[1], NAME))
listener.listen()
print('listens', flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0], os.path.join(sys.argv[2], NAME)), daemon=True).start()
