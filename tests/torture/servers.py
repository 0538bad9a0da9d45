"""tests/torture/servers.py FOLDER: serves honest answers of PostgreSQL and MariaDB on Unix sockets in FOLDER, and of
Prometheus on a port, which it prints. Ends when its standard input ends.

It is a process of its own: tools/torture forks, which a process with threads should not do."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'servers'))

from rogue import Listener  # noqa: E402
from rogue_mariadb_server import Instrumented  # noqa: E402
from rogue_postgres_server import Postgres  # noqa: E402
from rogue_prometheus import Prometheus  # noqa: E402


def serve(server, path=None):
    return Listener(lambda peer: server(peer).serve(), None, path)


folder = pathlib.Path(sys.argv[1])
serve(Postgres, str(folder / '.s.PGSQL.5432'))
serve(Instrumented, str(folder / 'mariadb'))
print(serve(Prometheus).port, flush=True)
sys.stdin.read()
