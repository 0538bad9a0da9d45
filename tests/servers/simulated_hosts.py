#!/usr/bin/env python3
"""simulated_hosts.py [--port N | --socket ...] [--hosts N] [--groups N] [--folder FOLDER]

One process that serves the pages of many camp exports, /metrics?host=NAME.
Their counters grow with the clock at known rates. The process prints the port, and then serves until it is killed.

Host number i of N ("host-0007") has 4 CPUs. Each CPU is busy for the share i / N of the time: two
thirds of the busy time are user time, one third is system time. A tenth of the idle time is I/O wait.
The sampled busy time is half of the measured busy time. Group k of the host uses one CPU for the
share i / N / (k + 1) of the time.

Files in FOLDER change a host. While "NAME.down" exists, the host answers 503. When "NAME.anew" appears,
all counters of the host start at 0 again, like after a restart of the exporter.
"""
import argparse
import asyncio
import os
import resource
import time

CPUS = 4
PAGE = 'text/plain; version=0.0.4; charset=utf-8'


class Host:
    """The counters of one host."""

    def __init__(self, name, busy, groups, folder):
        self.name, self.busy, self.groups, self.folder = name, busy, groups, folder
        self.begin = time.monotonic() - 100
        self.is_anew = False

    def has(self, what):
        return self.folder is not None and os.path.exists(f'{self.folder}/{self.name}.{what}')

    def modes(self):
        idle = 1 - self.busy
        return {'user': self.busy * 2 / 3, 'system': self.busy / 3, 'irq': 0, 'softirq': 0,
                'iowait': idle / 10, 'idle': idle * 9 / 10}

    def page(self):
        """Returns the page, or None if the host is down."""
        if self.has('down'):
            return None
        if self.has('anew') and not self.is_anew:
            self.begin, self.is_anew = time.monotonic(), True
        clock = time.monotonic() - self.begin
        time_of_all = clock * CPUS
        lines = ['# TYPE camp_cpus gauge', f'camp_cpus {CPUS}',
                 '# TYPE camp_clock_seconds_total counter', f'camp_clock_seconds_total {clock:.9f}',
                 '# TYPE camp_cpu_measured_seconds_total counter']
        lines += [f'camp_cpu_measured_seconds_total{{mode="{mode}"}} {share * time_of_all:.9f}'
                  for mode, share in self.modes().items()]
        lines.append('# TYPE camp_cpu_seconds_total counter')
        sampled = {'user': self.busy / 2, 'nice': 0, 'system': 0, 'irq': 0, 'softirq': 0, 'guest': 0,
                   'guest_nice': 0, 'idle': 1 - self.busy / 2, 'iowait': 0, 'steal': 0}
        lines += [f'camp_cpu_seconds_total{{mode="{mode}"}} {share * time_of_all:.2f}'
                  for mode, share in sampled.items()]
        lines += ['# TYPE camp_cpu_sampled_busy_seconds_total counter',
                  f'camp_cpu_sampled_busy_seconds_total {self.busy / 2 * time_of_all:.2f}']
        if self.groups:
            lines.append('# TYPE camp_group_state_seconds_total counter')
        for i in range(self.groups):
            user = self.busy * clock / (i + 1)
            lines += [f'camp_group_state_seconds_total{{groupname="group-{i}",state="{state}"}} '
                      f'{value:.9f}'
                      for state, value in (('user', user), ('run_queue', user / 10),
                                           ('disk', user / 10), ('timer', 2 * clock - 1.2 * user))]
        return '\n'.join(lines) + '\n'


class Exporter(asyncio.Protocol):
    """The part of HTTP/1.1 that a scraper uses: GET, persistent connections."""
    hosts = {}

    def connection_made(self, transport):
        self.transport, self.rest = transport, b''

    def data_received(self, data):
        self.rest += data
        while b'\r\n\r\n' in self.rest:
            head, self.rest = self.rest.split(b'\r\n\r\n', 1)
            self.answer(head.split(b' ', 2)[1].decode())

    def answer(self, path):
        host = self.hosts.get(path.partition('host=')[2])
        page = host.page() if host else None
        status = '200 OK' if page else '503 Service Unavailable' if host else '404 Not Found'
        body = (page or '').encode()
        self.transport.write(f'HTTP/1.1 {status}\r\nContent-Type: {PAGE}\r\n'
                             f'Content-Length: {len(body)}\r\n\r\n'.encode() + body)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument('--address', default='127.0.0.1')
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--hosts', type=int, default=4)
    parser.add_argument('--groups', type=int, default=0)
    parser.add_argument('--folder')
    given = parser.parse_args()
    # Each server that scrapes the hosts keeps a connection for each of them.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for i in range(given.hosts):
        name = f'host-{i:04}'
        Exporter.hosts[name] = Host(name, i / given.hosts, given.groups, given.folder)
    server = await asyncio.get_running_loop().create_server(Exporter, given.address, given.port,
                                                            backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
