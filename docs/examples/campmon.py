#!/usr/bin/env python3
"""CAMPmon of the CAMP paper: CPU and memory of several workstations on one console, by XML-RPC.

    python3 -m camp.campmon serve [HOST:]PORT       on each workstation: the functions of camp.paper
    python3 -m camp.campmon watch SECONDS URL...    on the console: watch 1 http://alpha:8000 ...

As in the paper, whoever reaches the port may ask; nothing is encrypted. It listens on 127.0.0.1 unless
it is told where. For a fleet that is kept: docs/fleet.md.

The integers of XML-RPC have 32 bits. Counters above that are sent as <i8>, a usual extension.
"""
import concurrent.futures
import sys
import time
import xmlrpc.client
import xmlrpc.server
from typing import Any, Callable, List

from camp import paper


def send(marshaller: xmlrpc.client.Marshaller, number: int, write: Callable[[str], Any]) -> None:
    kind = 'int' if -2**31 <= number < 2**31 else 'i8'
    write(f'<value><{kind}>{number:d}</{kind}></value>')


def serve(place: str) -> None:
    xmlrpc.client.Marshaller.dispatch[int] = send
    host, _, port = place.rpartition(':')
    with xmlrpc.server.SimpleXMLRPCServer((host or '127.0.0.1', int(port)), allow_none=True,
                                          logRequests=False) as server:
        for name in paper.__all__:
            server.register_function(getattr(paper, name), name)
        print('http://{}:{}'.format(*server.server_address[:2]), flush=True)
        server.serve_forever()


def ask(url: str) -> str:
    try:
        with xmlrpc.client.ServerProxy(url) as host:
            busy: Any = host.GetPercentProcessorTime()
            free_kb: Any = host.GetFreePhysicalMemory()
    except (OSError, xmlrpc.client.Error) as error:
        return f'{url:32}  no answer: {error}'
    return f'{url:32}  {busy:5.1f} % CPU  {free_kb // 1024:9,} MB free'


def watch(seconds: float, urls: List[str]) -> None:
    with concurrent.futures.ThreadPoolExecutor(len(urls)) as threads:
        while True:
            print('\n'.join(threads.map(ask, urls)), flush=True)
            time.sleep(seconds)


if __name__ == '__main__':
    if sys.argv[1:2] == ['serve'] and len(sys.argv) == 3:
        serve(sys.argv[2])
    elif sys.argv[1:2] == ['watch'] and len(sys.argv) > 3:
        watch(float(sys.argv[2]), sys.argv[3:])
    else:
        sys.exit(__doc__)
