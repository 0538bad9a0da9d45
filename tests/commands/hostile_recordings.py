"""Makes hostile recordings: each is a copy of a good recording in which one thing is wrong."""

import os
import shutil
import socket
import sqlite3
import struct
import sys

NUMBERS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n{}) SELECT i AS tick, "
           "i * 1000 AS start_ns, i * 1000 + 1000 AS end_ns, i AS wall_clock_ns, 0 AS unseen, "
           "0 AS lost, 0 AS unread_ns, 0 AS partial, 1 AS key, 1 AS first_row, 1 AS row_count FROM n")
DOUBLING = ";".join(["CREATE VIEW b0 AS SELECT * FROM camp"] +
                    [f"CREATE VIEW b{i} AS SELECT a.* FROM b{i - 1} a, b{i - 1} b"
                     for i in range(1, 32)])


def loose(table):
    """SQL that replaces a table by one that takes values of any type."""
    return (f"CREATE TABLE loose AS SELECT * FROM {table}; DROP TABLE {table};"
            f"ALTER TABLE loose RENAME TO {table};")


def views():
    """SQL that drops the views of the good recording."""
    return "DROP VIEW \"table\"; DROP VIEW table_every; DROP VIEW entity;"


# Name of the recording, and the SQL that makes it of a good one.
BY_SQL = {
    "a_view_without_end": "DROP TABLE tick; CREATE VIEW tick AS " + NUMBERS.format(""),
    "a_view_of_many_rows": "DROP TABLE tick; CREATE VIEW tick AS "
                           + NUMBERS.format(" WHERE i < 4000000000"),
    "rows_of_a_view": "ALTER TABLE table_rows RENAME TO kept; CREATE VIEW table_rows AS "
                      "SELECT a.* FROM kept a, kept b, kept c",
    "views_that_double": DOUBLING + "; DROP TABLE note; CREATE VIEW note AS SELECT * FROM b31",
    "a_virtual_table": "CREATE VIRTUAL TABLE words USING fts5(word)",
    "a_computed_column": "DROP TABLE note; CREATE TABLE note(since_tick INTEGER PRIMARY KEY, "
                         "text AS (hex(zeroblob(9000000))))",
    "causes_of_a_view": "CREATE VIEW cause AS SELECT a.* FROM table_rows a, table_rows b",
    "causes_that_are_computed": "CREATE TABLE cause(tick, number AS (hex(zeroblob(9000000))))",
    "a_computed_column_elsewhere": "CREATE TABLE other(a, b AS (a || a) NOT NULL)",
    "text_as_a_number": loose("table_rows") + "UPDATE table_rows SET run_ns = 'much'",
    "a_real_number": loose("table_rows") + "UPDATE table_rows SET run_ns = 9e999",
    "a_blob_as_a_time": loose("tick") + "UPDATE tick SET end_ns = zeroblob(1000000)",
    "a_negative_time": "UPDATE tick SET start_ns = -start_ns - 1",
    "an_interval_that_ends_before_it_starts": "UPDATE tick SET end_ns = start_ns - 1",
    "absurd_times": "UPDATE tick SET start_ns = 0, end_ns = 9223372036854775807",
    "an_early_wall_clock": "UPDATE tick SET wall_clock_ns = -9223372036854775807 - 1",
    "a_late_wall_clock": "UPDATE tick SET wall_clock_ns = 9223372036854775807",
    "a_negative_entity": "UPDATE table_rows SET entity = -entity",
    "a_negative_count": "UPDATE table_rows SET count = -1",
    "an_entity_twice": loose("table_rows") + "INSERT INTO table_rows SELECT * FROM table_rows",
    "the_same_rows_in_all_intervals": "UPDATE tick SET first_row = 1, row_count = 1000000000",
    "rows_without_end": "UPDATE tick SET row_count = 9223372036854775807",
    "a_negative_number_of_rows": "UPDATE tick SET row_count = -1",
    "rows_that_are_not_there": "UPDATE tick SET first_row = -9223372036854775807 - 1",
    "a_negative_tick": "UPDATE tick SET tick = -tick",
    "a_huge_text": "UPDATE camp SET value = hex(zeroblob(40000000)) WHERE key = 'note'",
    "a_table_that_does_not_exist": "UPDATE camp SET value = 'x' WHERE key = 'table'",
    "no_columns": "DELETE FROM column_info",
    "a_column_that_does_not_exist": "UPDATE column_info SET column_name = 'x'",
    "a_kind_that_does_not_exist": "UPDATE column_info SET kind = 'colour'",
    "a_newer_version": "PRAGMA user_version = 1000000",
    "no_identities": "DELETE FROM identity",
}

# Recordings that are strange, but can be shown.
HARMLESS = {
    "nulls": loose("table_rows") + "UPDATE table_rows SET run_ns = NULL",
    "huge_values": "UPDATE table_rows SET run_ns = 9223372036854775807, "
                   "unaccounted_ns = -9223372036854775807 - 1",
    "negative_ids": "UPDATE identity SET id = -9223372036854775807 - 1, pid = -1, uid = -7",
    "a_blob_as_a_name": loose("identity") + "UPDATE identity SET name = zeroblob(1000000)",
    "an_endless_interval": "UPDATE camp SET value = '99999999999999999999999' "
                           "WHERE key = 'interval_ns'",
    "a_tier_of_two_lines": "UPDATE camp SET value = 'x' || char(10) || '9 of 9 rows differ' || char(27) "
                           "WHERE key = 'tier'",
    "views_that_double_and_are_not_read": DOUBLING,
}


def tree_without_end(path):
    """Makes a tree of ten pages of which each points to the next from hundreds of cells. So the
    rows of `tick` are few hundred to the power of nine, in a small file."""
    file = sqlite3.connect(path)
    page_size = file.execute("PRAGMA page_size").fetchone()[0]
    root = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'tick'").fetchone()[0]
    file.close()
    count = os.path.getsize(path) // page_size
    with open(path, "r+b") as pages:
        pages.seek((root - 1) * page_size)
        leaf = pages.read(page_size)
        chain = [root] + list(range(count + 1, count + 10))
        cells = (page_size - 112) // 8
        for number, child in zip(chain, chain[1:]):
            page = bytearray(page_size)
            page[0] = 5  # an inner page of a table
            start = page_size - 6 * cells
            struct.pack_into(">HHHBI", page, 1, 0, cells, start, 0, child)
            for i in range(cells):
                struct.pack_into(">H", page, 12 + 2 * i, start + 6 * i)
                struct.pack_into(">IBB", page, start + 6 * i, child, 0x81, 1)
            pages.seek((number - 1) * page_size)
            pages.write(page)
        pages.seek((chain[-1] - 1) * page_size)
        pages.write(leaf)
        pages.seek(28)
        pages.write(struct.pack(">I", count + 9))


def make(good, folder):
    """Makes all files in the folder."""
    for name, sql in (BY_SQL | HARMLESS).items():
        path = os.path.join(folder, name + ".camp")
        shutil.copy(good, path)
        file = sqlite3.connect(path)
        # The views of the good recording use its tables, which could then not be renamed.
        file.executescript((views() if "RENAME" in sql else "") + sql)
        file.commit()
        file.close()
    shutil.copy(good, os.path.join(folder, "a_tree_without_end.camp"))
    tree_without_end(os.path.join(folder, "a_tree_without_end.camp"))
    open(os.path.join(folder, "an_empty_file.camp"), "w", encoding="ascii").close()
    os.mkfifo(os.path.join(folder, "a_pipe.camp"))
    os.mkdir(os.path.join(folder, "a_folder.camp"))
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind("a_socket.camp")


if sys.argv[1] == "harmless":
    print("\n".join(HARMLESS))
else:
    make(sys.argv[1], sys.argv[2])
