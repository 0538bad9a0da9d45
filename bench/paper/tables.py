"""Tables 1 to 3, and the paper's tests without a table: memory, network, threads, the rest.

In each, a program allocates a known amount, and the paper's functions are called before and after.
"""

import contextlib
import json
import os
import statistics

from setting import Subject, need_program, need_root, run

ARRAY_KB = 976
ARRAYS = 16
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024
PACKETS = 10000
PAYLOAD = 32
MAC = ("02:00:00:00:00:01", "02:00:00:00:00:02")
HEADERS = {"UDP and IP": 28, "Ethernet": 14}


def verdict(what, met, found):
    return {"what": what, "met": met, "found": found}


# ------------------------------------------------------------------------------- Table 1 --

MEMORY_PAPER = ("Working set +984 KB on Linux (988 elsewhere), just over 1 % more than the 976 KB that "
                "the program took, which was in Java; free physical memory -872 KB on Linux (-972, -968 "
                "elsewhere), within 10 % of what was expected.")


def listed_kb():
    """Returns the memory on the CPUs' own lists of pages, which the kernel does not count as free."""
    with open("/proc/zoneinfo", encoding="ascii") as file:
        pages = sum(int(line.split()[1]) for line in file if line.startswith("              count:"))
    return pages * PAGE_KB


def exact_working_set_kb(pid):
    """Returns the resident memory by the kernel's walk through all page tables, which is exact."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Rss:"))


def look_at_memory(paper, process):
    return {"working set": paper.GetWorkingSetKb(process), "exact": exact_working_set_kb(process),
            "listed": listed_kb(), "free": paper.GetFreePhysicalMemory()}


def judge_working_set(looks):
    """Judges all readings, each taken with one more array than the one before."""
    grown = {name: [after[name] - before[name] for before, after in zip(looks, looks[1:])]
             for name in looks[0]}
    of_each = grown["working set"]
    mean = statistics.fmean(of_each)
    return [
        verdict("the working set grows by the array, within a page for each array",
                all(abs(more - ARRAY_KB) <= PAGE_KB for more in of_each),
                f"{statistics.median(of_each):+g} KB (from {min(of_each):+g} to {max(of_each):+g}): the "
                "kernel counts the pages of a process in batches, a CPU each"),
        verdict("on the mean of all arrays, within 1 %", abs(mean / ARRAY_KB - 1) <= 0.01,
                f"{mean:+.1f} KB; by a walk through the page tables "
                f"{statistics.median(grown['exact']):+g} KB"),
    ]


def judge_free(acts):
    """acts: for each act, the KB for one array that were taken from free memory, and from the CPUs' lists.
    There are many acts, because other processes allocate and free memory meanwhile."""
    free = statistics.median(free for free, _ in acts)
    both = statistics.median(free + listed for free, listed in acts)
    return [
        verdict("free memory shrinks by it, within 10 %", abs(free / ARRAY_KB - 1) <= 0.1,
                f"{-free:+.0f} KB: the pages on a CPU's own list are given out first, and are not free "
                "to the kernel's mind"),
        verdict("free memory and these lists, within 10 %", abs(both / ARRAY_KB - 1) <= 0.1,
                f"{-both:+.0f} KB"),
    ]


def take_at_once(paper, subject, arrays):
    """Returns the KB for each array that were taken from free memory, and from the CPUs' lists."""
    listed, free = listed_kb(), paper.GetFreePhysicalMemory()
    subject.tell(f"memory {arrays * ARRAY_KB * 1024}")
    free -= paper.GetFreePhysicalMemory()
    return free / arrays, (listed - listed_kb()) / arrays


def measure_memory(setting):
    paper = setting.paper()
    looks = []
    with Subject(setting, "hold") as subject:
        process = paper.GetProcessIdentifier(subject.pid)
        for _ in range(ARRAYS + 1):
            subject.tell(f"memory {ARRAY_KB * 1024}")  # one before the first reading, as in the paper
            looks.append(look_at_memory(paper, process))
        acts = [take_at_once(paper, subject, ARRAYS) for _ in range(21)]
    first, second = looks[:2]
    names = {"working set": "GetWorkingSetKb", "exact": "the same, by smaps_rollup",
             "free": "GetFreePhysicalMemory", "listed": "on the CPUs' lists, by zoneinfo"}
    return {
        "setting": f"{ARRAYS} arrays of {ARRAY_KB} KB, written to, one after the other, in Python: the "
                   f"table has the first; for free memory {ARRAYS} at once, 21 times: the verdict is of "
                   "the median",
        "verdicts": judge_working_set(looks) + judge_free(acts),
        "tables": [{"caption": "KB", "columns": ["", "before", "after", "difference"],
                    "rows": [[text, first[name], second[name], second[name] - first[name]]
                             for name, text in names.items()]}],
        "plots": [],
    }


# ------------------------------------------------------------------------------- Table 2 --

NETWORK_PAPER = ("10,000 packets sent and received on all platforms; 740,000 bytes, 74 a packet: 14 of "
                 "Ethernet, 28 of UDP and IP, 32 of payload. Only Windows received 60 a packet: its "
                 "driver left the Ethernet header out.")
COUNTERS = ("GetNetPacketsSent", "GetNetBytesSent", "GetNetPacketsRecvd", "GetNetBytesRecvd")


def counters_in(setting, namespace, interface):
    """Returns the four counters of an interface, read in its namespace by a separate process."""
    told = run(["ip", "netns", "exec", namespace,
                *setting.python("counters.py", setting.module_path, interface, *COUNTERS)])
    return json.loads(told)


@contextlib.contextmanager
def two_namespaces(prefix):
    """Joins two network namespaces by a veth pair, without other traffic: no IPv6, and the neighbours are
    configured. Yields {namespace: (interface, address)}."""
    names = [f"camp-{prefix}-{os.getpid()}-{side}" for side in "ab"]
    try:
        for name in names:
            run(["ip", "netns", "add", name])
            run(["ip", "netns", "exec", name, "sh", "-c",
                 "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6;"
                 "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up"])
        run(["ip", "link", "add", "veth0", "netns", names[0], "type", "veth", "peer", "name", "veth0",
             "netns", names[1]])
        for number, name in enumerate(names):
            run(["ip", "-n", name, "address", "add", f"10.111.0.{number + 1}/24", "dev", "veth0"])
            run(["ip", "-n", name, "link", "set", "veth0", "address", MAC[number], "up"])
            run(["ip", "-n", name, "neighbour", "add", f"10.111.0.{2 - number}", "lladdr",
                 MAC[1 - number], "dev", "veth0"])
        yield {name: ("veth0", f"10.111.0.{number + 1}") for number, name in enumerate(names)}
    finally:
        for name in names:
            with contextlib.suppress(Exception):
                run(["ip", "netns", "delete", name])


def send(setting, sender, receiver, target):
    """Sends 10,000 packets; returns what `camp load net` itself reports about them."""
    return json.loads(run([setting.camp, "load", "net", "--packets", str(PACKETS), "--bytes",
                           str(PAYLOAD), "--from-namespace", sender, "--to-namespace", receiver,
                           "--target", target, "--format", "json"]))


def network_rows(before, after):
    return [[name, before[name], after[name], after[name] - before[name]] for name in before]


def judge_network(where, rows, headers):
    expected = {"Packets": PACKETS, "Bytes": PACKETS * (PAYLOAD + headers)}
    return [verdict(f"{where}: {name} + {expected[kind]:,}", more == expected[kind], f"+{more:,}")
            for name, _, _, more in rows for kind in expected if kind in name]


def send_over_veth(setting, ends):
    (sender, (interface, _)), (receiver, (_, target)) = ends.items()
    sides = ((sender, "Sent"), (receiver, "Recvd"))
    before, after = {}, {}
    for told in (before, after):
        for namespace, word in sides:
            counters = counters_in(setting, namespace, interface)
            told |= {name: value for name, value in counters.items() if word in name}
        if told is before:
            send(setting, sender, receiver, target)
    return network_rows(before, after)


def send_over_lo(setting, namespace):
    before = counters_in(setting, namespace, "lo")
    send(setting, namespace, namespace, "127.0.0.1")
    return network_rows(before, counters_in(setting, namespace, "lo"))


def measure_network(setting):
    setting.paper()
    need_root("network namespaces")
    need_program("ip", "iproute2")
    with two_namespaces("net") as ends:
        veth = send_over_veth(setting, ends)
        lo = send_over_lo(setting, next(iter(ends)))
    columns = ["", "before", "after", "difference"]
    return {
        "setting": f"{PACKETS:,} UDP packets with {PAYLOAD} bytes of payload from one network namespace "
                   "to another, where no other traffic is; then over lo, which has no Ethernet header",
        "verdicts": judge_network("veth", veth, sum(HEADERS.values()))
        + judge_network("lo", lo, HEADERS["UDP and IP"]),
        "tables": [{"caption": "veth: sent by one namespace, received by the other",
                    "columns": columns, "rows": veth},
                   {"caption": "lo", "columns": columns, "rows": lo}],
        "plots": [],
    }


# ------------------------------------------------------------------------------- Table 3 --


THREADS_PAPER = "9 threads before, 10 after the launch of one more, on all platforms; in Java."


def measure_threads(setting):
    paper = setting.paper()
    with Subject(setting, "hold", 8) as subject:  # and its first one: 9, as the paper's Java had
        process = paper.GetProcessIdentifier(subject.pid)
        before = paper.GetThreadCount(process)
        subject.tell("thread")
        after = paper.GetThreadCount(process)
    return {
        "setting": "a process of 9 threads, in Python, that starts one more",
        "verdicts": [verdict("9, then 10", (before, after) == (9, 10), f"{before}, then {after}")],
        "tables": [{"caption": "GetThreadCount", "columns": ["before", "after", "difference"],
                    "rows": [[before, after, after - before]]}],
        "plots": [],
    }


# --------------------------------------------------------------- What has no table there --

INFORMAL_PAPER = ("Tested without figures, because the expected values are unknown: disk counters that "
                  "only grow, and faster while the disk is used; page faults as `ps -O "
                  "min_flt,maj_flt` reports them; lists as `netstat -i` and the names below /dev/disk.")


def judge_faults(setting, paper):
    with Subject(setting, "hold") as subject:
        told = run(["ps", "-o", "min_flt=,maj_flt=", "-p", str(subject.pid)])
        faults = paper.GetNumPageFaults(paper.GetProcessIdentifier(subject.pid))
    of_ps = sum(map(int, told.split()))
    return verdict("page faults of a sleeping process: as ps", faults == of_ps, f"{faults}, ps {of_ps}")


def judge_list(what, told, truth, of):
    told, truth = sorted(told), sorted(truth)
    return verdict(f"{what}: as {of}", told == truth, ", ".join(told) or "none")


def lsblk(kinds):
    rows = json.loads(run(["lsblk", "--json", "--list", "--output", "NAME,TYPE"]))["blockdevices"]
    return {row["name"] for row in rows if row["type"] in kinds}


def judge_lists(paper):
    partitions, disks = set(paper.EnumDiskPartitions()), set(paper.EnumPhysicalDisks())
    ours = [judge_list("interfaces", paper.EnumNetworkInterfaces(), os.listdir("/sys/class/net"),
                       "/sys/class/net"),
            verdict("CPUs: as nproc --all", paper.GetCPUCount() == int(run(["nproc", "--all"])),
                    str(paper.GetCPUCount()))]
    # lsblk omits empty disks (loop devices, memory disks).
    ours.append(verdict("disks: all that lsblk knows", lsblk({"disk"}) <= disks,
                        ", ".join(sorted(disks))))
    ours.append(judge_list("partitions", partitions, lsblk({"part"}), "lsblk"))
    return ours


def judge_disks(setting, paper):
    """Counts the reads of each disk before, after a pause, and after 16 MiB were read without the page cache."""
    disks = paper.EnumPhysicalDisks()
    looks = [{disk: paper.GetNumReads_Disk(disk) for disk in disks}]
    folder = os.environ.get("TMPDIR", "/var/tmp")
    for command in (["sleep", "0.5"], [setting.camp, "load", "io", "--direct", "--bytes", "16M",
                                       "--format", "json"]):
        run(command, cwd=folder)
        looks.append({disk: paper.GetNumReads_Disk(disk) for disk in disks})
    grown = [sum(after[disk] - before[disk] for disk in disks)
             for before, after in zip(looks, looks[1:])]
    only_up = all(after[disk] >= before[disk] for before, after in zip(looks, looks[1:])
                  for disk in disks)
    return [verdict("disk counters never go back", only_up, f"{len(disks)} disks, 3 readings"),
            verdict("they grow faster while a disk is read", grown[1] > grown[0],
                    f"{grown[0]} reads in a pause of 0.5 s, {grown[1]} while 16 MiB were read")]


def measure_informal(setting):
    paper = setting.paper()
    verdicts = [judge_faults(setting, paper), *judge_lists(paper), *judge_disks(setting, paper)]
    return {"setting": "each compared with another source", "tables": [],
            "verdicts": verdicts, "plots": []}
