"""How the bench shows its records: text for a person, JSON for a program; and its verdicts."""

import json

SCANNERS = ("libproc2", "libstatgrab", "psutil", "ps", "top", "pidstat", "atop")


def print_json(record):
    print(json.dumps(record), flush=True)


def time_text(us):
    return f"{us:9.3f} us" if us < 1000 else f"{us / 1000:9.2f} ms"


def verdict(what, figure, limit, met):
    return {"what": what, "figure": figure, "limit": limit, "met": met}


def call_verdicts(record):
    if record.get("failed"):
        return [verdict(record["title"], "failed", "", False)]
    floor = record["against"][0]
    if record["target"] == "us":
        return [verdict(record["title"], f"{record['us']:.3f} us", f"{record['limit']:.2f} us",
                        record["us"] <= record["limit"])]
    if record["target"] == "ratio" and "ratio" in floor:
        return [verdict(record["title"], f"{floor['ratio']:.3f} x floor",
                        f"{record['limit']:.2f} x", floor["ratio"] <= record["limit"])]
    return []


def crowd_text(record):
    return f"{record['crowd']:,} {'waking' if record['waking'] else 'asleep'}"


def table_verdicts(record):
    name = f"camp check, {record['tier']}, {crowd_text(record)}"
    found = []
    if "limit_ms" in record:
        found.append(verdict(name, f"{record['ms']:.2f} ms", f"{record['limit_ms']:.0f} ms",
                             record["ms"] <= record["limit_ms"]))
    if "limit_growth" in record:
        found.append(verdict(f"{name}: against 1,000", f"{record['growth']:.1f} x",
                             f"{record['limit_growth']:.0f} x",
                             record["growth"] <= record["limit_growth"]))
        found.append(verdict(f"{name}: resident", f"{record['resident_bytes'] / 1e6:.1f} MB",
                             f"{record['limit_resident_bytes'] / 1e6:.0f} MB",
                             record["resident_bytes"] < record["limit_resident_bytes"]))
    peers = [peer for peer in record["against"] if peer["who"] in SCANNERS]
    if peers:
        worst = max(peers, key=lambda peer: peer["ratio"])
        found.append(verdict(f"{name}: cheapest peer is {worst['who']}",
                             f"{worst['ratio']:.2f} x it", "1.00 x", worst["ratio"] <= 1))
    return found


def attach_verdicts(record):
    units = {"switch_ns": "a context switch", "call_ns": "a system call"}
    costs = {variant["who"]: variant for variant in record["variants"]}
    found = []
    for variant in record["variants"]:
        for what, (limit, floor) in variant["limits"].items():
            if floor is None or floor in costs:
                ns = variant[what][0] - (costs[floor][what][0] if floor else 0)
                than = f" than {floor.removeprefix('floor: ')}" if floor else ""
                found.append(verdict(f"{variant['who']}: more {units[what]}{than}",
                                     f"{ns:.0f} ns", f"{limit:.0f} ns", ns <= limit))
    return found


def resident_verdicts(name, record):
    if "limit_resident_bytes" not in record:
        return []
    return [verdict(f"{name}: resident", f"{record['resident_bytes'] / 1e6:.1f} MB",
                    f"{record['limit_resident_bytes'] / 1e6:.0f} MB",
                    record["resident_bytes"] <= record["limit_resident_bytes"])]


def snapshot_verdicts(record):
    name = f"snapshot of {record['threads']:,} threads"
    return [verdict(name, f"{record['ms']:.2f} ms", f"{record['limit_ms']:.2f} ms",
                    record["ms"] <= record["limit_ms"]),
            verdict(f"{name}: opening a session", f"{record['open_ms']:.0f} ms", f"{record['limit_open_ms']:.0f} ms",
                    record["open_ms"] <= record["limit_open_ms"])] + resident_verdicts(name, record)


def top_verdicts(record):
    name = f"camp top, {crowd_text(record)}"
    found = resident_verdicts(name, record)
    if "limit_percent" in record:
        found.append(verdict(f"{name}: of a core", f"{record['percent']:.2f} %",
                             f"{record['limit_percent']:.2f} %",
                             record["percent"] <= record["limit_percent"]))
    return found


def age_verdicts(record):
    return [verdict("a running thread's age in a snapshot", f"{record['states_us'][0]:.2f} us",
                    f"{record['limit_us']:.0f} us", record["states_us"][0] <= record["limit_us"])]


def export_verdicts(record):
    """Only a scrape of 10,000 processes has a target."""
    mine = record["rows"][0]
    name = f"a scrape, {crowd_text(record)}"
    if record["crowd"] < 10000:
        return []
    return [verdict(name, f"{mine['ms']:.2f} ms", f"{record['limit_ms']:.0f} ms",
                    mine["ms"] <= record["limit_ms"])] + resident_verdicts(
                        name, {**mine, "limit_resident_bytes": record["limit_resident_bytes"]})


def backends_verdicts(record):
    return [verdict(f"wait events of backends: of the machine at {record['switches']:,} switches/s",
                    f"{record['percent']:.2f} %", f"{record['limit_percent']:.1f} %",
                    record["percent"] <= record["limit_percent"])]


def activity_verdicts(record):
    name = f"{record['count']:,} {record['kind']}, {record['changed']:,} woken"
    found = [verdict(f"{name}: {what}", f"{record['ms'][what]:.2f} ms", f"{limit:.2f} ms", record["ms"][what] <= limit)
             for what, limit in record["limits"].items()]
    if "limit_bytes" in record:
        what, limit = record["limit_bytes"]
        found.append(verdict(f"{name}: camp top, {what.replace('_bytes', '')}", f"{record[what] / 1e6:.1f} MB",
                             f"{limit / 1e6:.0f} MB", record[what] <= limit))
    return found


def recording_verdicts(record):
    name = f"recording {record['threads']:,} threads, {record.get('active', 0)} % active"
    if record["what"] == "write":
        return [verdict(f"{name}: of a core", f"{record['percent']:.2f} %",
                        f"{record['limit_percent']:.2f} %",
                        record["percent"] <= record["limit_percent"]),
                verdict(f"{name}: a row", f"{record['row_bytes']:.1f} bytes",
                        f"{record['limit_row_bytes']:.0f} bytes",
                        record["row_bytes"] <= record["limit_row_bytes"])]
    if record["what"] == "read":
        return [verdict(f"reading an hour of {record['threads']:,} threads, {record['active']} % "
                        "active", f"{record['ms']:.0f} ms", f"{record['limit_ms']:.0f} ms",
                        record["ms"] <= record["limit_ms"])]
    return []


def view_verdicts(record):
    what = f"camp view, {record['entities']:,} entities x {record['hertz']:.0f} Hz: of a core"
    return [verdict(what, f"{record['percent']:.2f} %", f"{record['limit_percent']:.2f} %",
                    record["percent"] <= record["limit_percent"]),
            verdict("camp view with a client that does not read: frames lost",
                    f"{max(0, 1 - record['stuck_hertz'] / record['hertz']):.1%}", "2.0%",
                    record["stuck_hertz"] >= 0.98 * record["hertz"])]


def report_verdicts(record):
    if "limit_bytes" not in record:
        return []
    return [verdict(f"{report_text(record)}", f"{record['bytes'] / 1e6:.1f} MB",
                    f"{record['limit_bytes'] / 1e6:.0f} MB",
                    record["bytes"] <= record["limit_bytes"])]


def page_verdicts(record):
    if record["what"] == "fps":
        return [verdict(f"the page, {record['entities']:,} entities: a frame",
                        f"{record['frame_ms']:.1f} ms", f"{record['limit_frame_ms']:.1f} ms",
                        record["frame_ms"] <= record["limit_frame_ms"]),
                verdict(f"the page, {record['entities']:,} entities: the first frame",
                        f"{record['first_ms']:.0f} ms", f"{record['limit_first_ms']:.0f} ms",
                        record["first_ms"] <= record["limit_first_ms"])]
    if record["what"] == "live":
        return [verdict("the page, 1,000 entities x 10 Hz: painted, p95", f"{record['p95_ms']:.0f} ms",
                        f"{record['limit_p95_ms']:.0f} ms",
                        record["p95_ms"] < record["limit_p95_ms"])]
    if record["what"] == "stall":
        return [verdict(f"the page, {record['sessions']} database sessions x 1 Hz: stands still",
                        f"{record['longest_ms']:.0f} ms", f"{record['limit_longest_ms']:.0f} ms",
                        record["longest_ms"] <= record["limit_longest_ms"])]
    return [verdict(f"the page, an hour of {record['threads']:,} threads: opened",
                    f"{record['first_ms']:.0f} ms", f"{record['limit_open_ms']:.0f} ms",
                    record["first_ms"] < record["limit_open_ms"])]


def start_verdicts(record):
    return [verdict("start of the static camp get", f"{record['ms']:.2f} ms", f"{record['limit_ms']:.1f} ms",
                    record["ms"] <= record["limit_ms"])]


def size_verdicts(record):
    return [verdict(record["name"], f"{record['bytes'] / 1e3:.1f} KB",
                    f"{record['limit_bytes'] / 1e3:.0f} KB", record["bytes"] < record["limit_bytes"])]


def fleet_verdicts(record):
    if "limit_ms" not in record:
        return []
    return [verdict(f"a frame of {record['hosts']:,} hosts by {record['engine']}", f"{record['wall_ms']:.0f} ms",
                    f"{record['limit_ms']:.0f} ms", record["wall_ms"] <= record["limit_ms"])]


def sessions_verdicts(record):
    if "limit_percent" not in record:
        return []
    return [verdict(f"{record['sessions']} database sessions, 10 samples a second: of a CPU",
                    f"{record['percent']:.2f} %", f"{record['limit_percent']:.2f} %",
                    record["percent"] <= record["limit_percent"])]


def tier_cost_percent(record):
    return record["own_percent"] + record["backend_percent"]


def tier_cost_verdicts(record):
    if "limit_percent" not in record:
        return []
    return [verdict(f"{record['sessions']} PostgreSQL sessions, tier {record['tier']}: of a CPU",
                    f"{tier_cost_percent(record):.2f} %", f"{record['limit_percent']:.2f} %",
                    tier_cost_percent(record) <= record["limit_percent"])]


def sessions_size_verdicts(record):
    if "limit_mb" not in record:
        return []
    return [verdict(f"recording of {record['sessions']} sessions, {record['load']}: an hour"[:60],
                    f"{record['hour_mb']:.1f} MB", f"{record['limit_mb']:.1f} MB", record["hour_mb"] <= record["limit_mb"])]


def python_verdicts(record):
    return [verdict(f"Python, {record['what']}: {line['who']}"[:60],
                    f"{line['ratio']:.3f} x psutil", f"{line['limit_ratio']:.2f} x",
                    line["ratio"] <= line["limit_ratio"])
            for line in record["against"] if "limit_ratio" in line]


def many_cpus_verdicts(record):
    return [verdict(f"simulated, {record['what']}: a CPU of 2,000, of 64", f"{record['growth']:.2f} x",
                    f"{record['limit_growth']:.0f} x", record["growth"] <= record["limit_growth"])]


def verdicts(record):
    makers = {"call": call_verdicts, "table": table_verdicts, "size": size_verdicts,
              "start": start_verdicts, "activity": activity_verdicts,
              "view": view_verdicts, "page": page_verdicts, "report": report_verdicts,
              "attach": attach_verdicts, "snapshot": snapshot_verdicts, "top": top_verdicts,
              "age": age_verdicts, "backends": backends_verdicts,
              "recording": recording_verdicts, "export": export_verdicts,
              "sessions": sessions_verdicts, "tier_cost": tier_cost_verdicts,
              "sessions_size": sessions_size_verdicts,
              "python": python_verdicts, "fleet": fleet_verdicts,
              "many_cpus": many_cpus_verdicts}
    return makers.get(record["part"], lambda _: [])(record)


def print_machine(record):
    print(f"{record['system']}, {record['cpus']} CPUs, {'root' if record['root'] else 'no root'}, "
          f"load {record['load']:.1f}")
    print("Ratios are camp / other, blocks in turn: median [5 % to 95 % of the rounds].")


def print_peer(record):
    if not record["present"]:
        print(f"{record['who']}: missing here")


def print_call(record):
    took = "failed" if record.get("failed") else time_text(record["us"])
    print(f"\n{record['title']:46}{took}")
    for peer in record["against"]:
        name = f"  {peer['who']}: {peer['what']}"
        if peer.get("failed"):
            print(f"{name:60} missing")
        elif "ratio" in peer:
            print(f"{name:60}{time_text(peer['us'])}  {peer['ratio']:6.3f} "
                  f"[{peer['ratio_p5']:.2f} to {peer['ratio_p95']:.2f}]")


def print_against(record):
    for peer in record["against"]:
        print(f"  {peer['who']:28}{peer['ms']:9.2f} ms  {peer['ratio']:6.3f} "
              f"[{peer['ratio_min']:.2f} to {peer['ratio_max']:.2f}]")
    print_missing(record)


def print_missing(record):
    for name, why in record["missing"].items():
        print(f"  {name:28}  missing: {why}")


def print_table(record):
    print(f"\ncamp check, tier {record['tier']}, {crowd_text(record)} "
          f"({record['processes']:,} processes in all)")
    print(f"  one interval                {record['ms']:9.2f} ms of CPU "
          f"[{record['ms_min']:.2f} to {record['ms_max']:.2f}]")
    print(f"  starting it {record['start_ms']:.1f} ms, resident at most "
          f"{record['resident_bytes'] / 1e6:.1f} MB")
    print_against(record)


def cost_text(cost, nothing):
    middle, least, most = cost
    return f"{middle:+7.0f} {middle / nothing:+7.0%} {f'[{least:.0f} to {most:.0f}]':>17}"


def print_attach(record):
    nothing = record["nothing"]
    print(f"\nWhat is attached to the kernel: ns more than with nothing, median [least to most] of "
          f"{record['rounds']} rounds' better half")
    print(f"{'':41}{'a context switch':>33} {'a system call':>33}")
    print(f"  {'nothing':39}{nothing['switch_ns']:7.0f}{nothing['call_ns']:34.0f}")
    for variant in record["variants"]:
        print(f"  {variant['who']:39}{cost_text(variant['switch_ns'], nothing['switch_ns'])}"
              f" {cost_text(variant['call_ns'], nothing['call_ns'])}")
    print_missing(record)


def print_snapshot(record):
    print(f"\nA snapshot of {record['threads']:,} threads")
    print(f"  {'camp':28}{record['ms']:9.2f} ms, resident at most "
          f"{record['resident_bytes'] / 1e6:.1f} MB")
    print_against(record)
    print(f"  opening a session: {record['open_ms']:.0f} ms of CPU, {record['open_wall_ms']:.0f} ms")


def print_top(record):
    print(f"\ncamp top, an interval a second, {crowd_text(record)}")
    print(f"  {'one interval':28}{record['ms']:9.2f} ms of CPU "
          f"[{record['ms_min']:.2f} to {record['ms_max']:.2f}], "
          f"{record['percent']:.2f} % of a core, resident at most "
          f"{record['resident_bytes'] / 1e6:.1f} MB")
    print_against(record)


def print_export(record):
    print(f"\na scrape, {crowd_text(record)}: CPU, resident after, most, the page as sent")
    mine = record["rows"][0]["ms"]
    for row in record["rows"]:
        print(f"  {row['who']:28}{row['ms']:9.2f} ms [{row['ms_min']:.2f} to {row['ms_max']:.2f}]"
              f"  {row['resident_bytes'] / 1e6:6.1f} MB  {row['most_bytes'] / 1e6:6.1f} MB"
              f"  {row['page_bytes'] / 1e3:6.1f} KB  camp / it {mine / row['ms']:.3f}")
    for who in record["missing"]:
        print(f"  {who}: missing here")


def print_export_sessions(record):
    peer = next((row for row in record["rows"] if row["who"] == "postgres-exporter"), None)
    print(f"\nExporters of {record['sessions']} sessions of PostgreSQL: CPU time in {record['period_s']} s with one scrape (of the "
          f"exporter + of its\nbackends), of a scrape alone; resident; the page (as sent), its series; CPU time / that of "
          f"postgres-exporter")
    for row in record["rows"]:
        ratio = f"  {export_sessions_ms(row) / export_sessions_ms(peer):.3f}" if peer else ""
        print(f"  {row['who']:26}{row['own_ms']:8.1f} + {row['backend_ms']:5.1f} ms  {row['own_scrape_ms']:6.2f} + "
              f"{row['backend_scrape_ms']:5.2f} ms  {row['resident_bytes'] / 1e6:5.1f} MB  {row['page_bytes'] / 1e3:6.1f} KB "
              f"({row['sent_bytes'] / 1e3:.1f})  {row['series']:5}{ratio}")
    for who in record["missing"]:
        print(f"  {who}: missing here")


def export_sessions_ms(row):
    return row["own_ms"] + row["backend_ms"]


def print_activity(record):
    print(f"\n{record['count']:,} {record['kind']}, of which {record['changed']:,} wake up in an interval: CPU time")
    for what, ms in record["ms"].items():
        print(f"  {what:28}{ms:9.3f} ms")
    print(f"  camp top: resident at most {record['resident_bytes'] / 1e6:.1f} MB; the machine has "
          f"{max(0, record['machine_bytes']) / 1e6:.1f} MB less")


def print_age(record):
    print("\nHow old the CPU time of a running thread is: median, and 95 % are at most")
    for name, key in (("in a snapshot of camp", "states_us"), ("by its CPU clock", "clock_us")):
        median, most = record[key]
        print(f"  {name:28}{median:9.2f} us {most:9.2f} us")


def print_backends(record):
    print(f"\nA switch with its wakeup takes {record['nothing_ns']:.0f} ns; while wait events are read "
          f"of other processes {record['others_ns']:.0f} ns more, of these two "
          f"{record['watched_ns']:.0f} ns more, by statement {record['by_statement_ns']:.0f} ns more, and with the lengths of sleeps "
          f"{record['lengths_ns']:.0f} ns more. While the ends of waits for locks are noted: of others "
          f"{record['others_by_blocker_ns']:.0f} ns more, of these two {record['by_blocker_ns']:.0f}, and "
          f"{record['locks_ns']:.0f} if each wait is for a lock. Opens in {record['open_ms']:.0f} ms of CPU time.")


def print_sessions(record):
    if record["what"] == "sampling":
        print(f"sampling {record['sessions']} sessions ten times a second: {record['percent']:.2f} % of a "
              f"CPU; limited to 1 % that is {record['looks']:.1f} times")
        return
    print(f"a {record['what']} sample of {record['sessions']} sessions: {record['ms']:.2f} ms; CPU time {record['own_ms']:.2f} "
          f"of camp, {record['backend_ms']:.2f} of its backend")


def print_tier_errors(record):
    print(f"\nPostgreSQL, pgbench with {record['sessions']:.0f} clients: share of each state, and its RMS error "
          f"against bpf in the same {record['intervals']}\nintervals of 1 s, in ms a second of a session; load "
          f"{record['load']:.1f}, stolen {record['stolen_percent']:.1f} % of a CPU")
    states = list(record["tiers"]["bpf"])
    print(f"  {'':18}" + "".join(f"{state:>18}" for state in states))
    for tier, of in record["tiers"].items():
        print(f"  {tier:18}" + "".join(f"{of[state]['percent']:9.2f} %{of[state]['rms_ms']:7.1f}"
                                       for state in states))


def print_tier_speed(record):
    print(f"\nPostgreSQL, pgbench during camp record, against the blocks before and after, without it: "
          f"geometric mean\n[95 % interval] of {record['rounds']} paired rounds; {record['transactions']:.0f} transactions a second; load "
          f"{record['load']:.1f}")
    for tier, (middle, least, most) in record["ratios"].items():
        print(f"  {tier:18}{middle:7.3f} [{least:.3f} to {most:.3f}]")


def print_tier_why(record):
    print(f"\nPostgreSQL, CPU time of the backends for a transaction of pgbench, against the blocks before and after without\n"
          f"camp: median [least to most] of {record['rounds']} rounds; {record['cpu_us']:.0f} us a transaction; load {record['load']:.1f}")
    for what, (middle, least, most) in record["ratios"].items():
        print(f"  {what:18}{middle:7.3f} [{least:.3f} to {most:.3f}]")


def print_tier_cost(record):
    print(f"tier {record['tier']}, {record['sessions']} sessions of PostgreSQL: {tier_cost_percent(record):.2f} % of a "
          f"CPU, {record['own_percent']:.2f} of camp, {record['backend_percent']:.2f} of its backend")


def print_sessions_size(record):
    print(f"recording of {record['sessions']} sessions, {record['load']}: {record['interval_bytes'] / 1e3:.1f} kB an interval "
          f"of a second, {record['hour_mb']:.1f} MB an hour")


def print_recording(record):
    if record["what"] == "write":
        print(f"\nRecording {record['threads']:,} threads once a second, {record['active']} % active")
        print(f"  {'one interval':28}{record['ms']:9.2f} ms of CPU, {record['percent']:.2f} % of a core")
        print(f"  {'a row':28}{record['row_bytes']:9.1f} bytes; of written rows "
              f"{record['written_bytes']:.1f}; {record['hour_bytes'] / 1e6:.0f} MB an hour")
    elif record["what"] == "read":
        print(f"\nReading an hour of {record['threads']:,} threads, {record['active']} % active, "
              f"{record['file_bytes'] / 1e6:.0f} MB")
        print(f"  {'to the first frame':28}{record['open_ms']:9.2f} ms")
        print(f"  {'all':28}{record['ms']:9.2f} ms, "
              f"{record['rows'] / record['ms'] * 1e3 / 1e6:.1f} million rows a second")
    elif record["what"] == "why":
        print(f"\ncamp record of {record['threads']:,} real threads that "
              f"{'wake ten times a second' if record['waking'] else 'sleep'}, one interval a second")
        for name, key in (("without causes", "without"), ("with --why", "with")):
            print(f"  {name:28}{record[key + '_ms']:9.2f} ms of CPU, {record[key + '_bytes'] / 1e3:.1f} kB an interval, "
                  f"{record[key + '_bytes'] * 3600 / 1e6:.0f} MB an hour")
        print(f"  {'causes of an interval':28}{record['causes']:9.0f} rows")
    else:
        print(f"\ncamp record, {record['threads']:,} real threads asleep: of "
              f"{record['first_rows']:,} rows {record['later_rows']:,.0f} are written in an interval; "
              f"{record['row_bytes']:.1f} bytes a row of {record['intervals']} intervals")


def print_view(record):
    print(f"\ncamp view, {record['entities']:,} entities x {record['hertz']:.1f} Hz, each row "
          f"changes each time: of a core, with its source")
    print(f"  without a client            {record['alone_percent']:9.2f} %")
    print(f"  one client                  {record['percent']:9.2f} %")
    print(f"  with one that reads not     {record['stuck_percent']:9.2f} %, "
          f"{record['stuck_hertz']:.1f} Hz")


def report_text(record):
    return (f"report of {record['entities']:,} x {record['frames']}, {record['changing']:.0%} "
            f"of the rows change")


def print_report(record):
    print(f"{report_text(record)}: {record['bytes'] / 1e6:.2f} MB, {record['cpu_s']:.1f} s of CPU")


def print_page(record):
    if record["what"] == "fps":
        print(f"\nthe page, {record['entities']:,} entities that all move: "
              f"{1000 / record['frame_ms']:.1f} frames a second, {record['script_ms']:.1f} ms of CPU "
              f"of its script a frame; the first after {record['first_ms']:.0f} ms; "
              f"{record['memory_mb']:.1f} MB of its script's memory, {record['later_mb']:.1f} MB later")
    elif record["what"] == "live":
        print(f"\nthe page, live, 1,000 entities x 10 Hz: painted after {record['p50_ms']:.0f} ms, "
              f"p95 {record['p95_ms']:.0f} ms ({record['painted']} frames)")
    elif record["what"] == "stall":
        print(f"\nthe page, live, {record['sessions']} database sessions x 1 Hz ({record['shown']}, "
              f"{record['frames']} frames): drawn every {record['median_ms']:.1f} ms, "
              f"at most {record['longest_ms']:.0f} ms")
    else:
        print(f"\nthe page, an hour of {record['threads']:,} threads: its first frame after "
              f"{record['first_ms']:.0f} ms, all of it after {record['all_ms']:.0f} ms")


def print_python(record):
    print(f"\nPython: {record['what']}; psutil in the same rounds takes "
          f"{time_text(record['against'][0]['psutil_us']).strip()}")
    for line in record["against"]:
        print(f"  {line['who']:58}{time_text(line['us'])}  1 / {1 / line['ratio']:.1f} "
              f"[{1 / line['ratio_max']:.1f} to {1 / line['ratio_min']:.1f}]")
    print_missing(record)
    if record["imports_ms"]:
        print("  imported, CPU time: " + ", ".join(f"{name} {ms:.0f} ms" for name, ms in
                                                   record["imports_ms"].items()))


def print_start(record):
    print(f"\nstart: static camp get {record['ms']:.2f} ms of CPU time")
    for peer in record["against"]:
        print(f"  {peer['who']}: " + ("missing" if peer["ms"] is None else
                                      f"{peer['ms']:.2f} ms, {peer['ms'] / record['ms']:.2f} x the static camp"))


def print_size(record):
    print(f"\n{record['name']}: {record['bytes'] / 1e3:.1f} KB")


def print_fleet(record):
    print(f"\nA frame of {record['hosts']:,} hosts by {record['engine']}: {record['wall_ms']:.0f} ms by the wall, "
          f"{record['wall_ms'] / record['floor_ms']:.2f} x the floor (curl fetches the same answers)")
    print(f"  camp: {record['cpu_ms']:.1f} ms of CPU, {record['resident_bytes'] / 1e6:.0f} MB; to open "
          f"{record['open_ms']:.0f} ms")
    for way in record["ways"]:
        print(f"  {way['way']:56} {way['wall_ms']:6.0f} ms (least {way['least_ms']:.0f}), server "
              f"{way['server_ms']:4.0f} ms of CPU, {way['bytes'] / 1e3:6.0f} KB")


def print_many_cpus(record):
    print(f"\nA SIMULATION, synthetic files and accounts: {record['what']}")
    for cpus, us in record["us"].items():
        print(f"  {cpus:5,} CPUs {time_text(us)}, {1000 * us / cpus:7.1f} ns each")


def print_scrapes(record):
    print(f"\n{record['engine']} scrapes {record['hosts']:,} hosts at {record['interval']}: "
          f"{record['cores']:.2f} cores, {record['resident_bytes'] / 1e6:.0f} MB, "
          f"{record['series']:,.0f} series, {record['samples_a_second']:,.0f} samples a second")


def print_verdict(record):
    print("\nTargets")
    for target in record["targets"]:
        print(f"  {'met   ' if target['met'] else 'MISSED'} {target['what']:60}"
              f"{target['figure']:>16}  (at most {target['limit']})")
    met = sum(target["met"] for target in record["targets"])
    print(f"{met} of {len(record['targets'])} met")
    for failure in record["failures"]:
        print(f"failed: {failure}")


PRINTERS = {"export": print_export, "export_sessions": print_export_sessions, "machine": print_machine, "peer": print_peer, "call": print_call, "table": print_table,
            "size": print_size, "start": print_start, "view": print_view, "report": print_report,
            "page": print_page,
            "attach": print_attach, "snapshot": print_snapshot,
            "top": print_top, "activity": print_activity, "age": print_age, "backends": print_backends,
            "recording": print_recording, "sessions": print_sessions,
            "tier_errors": print_tier_errors, "tier_speed": print_tier_speed, "tier_why": print_tier_why,
            "tier_cost": print_tier_cost, "sessions_size": print_sessions_size, "python": print_python, "fleet": print_fleet,
            "scrapes": print_scrapes, "many_cpus": print_many_cpus,
            "verdict": print_verdict}


def print_text(record):
    PRINTERS[record["part"]](record)
