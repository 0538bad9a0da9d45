"""The report: one HTML file without a script or a network, which contains its data.

A report is {"schema": "camp.paper/1", "machine": {name: text}, "quick", "parts": [PART]}; a PART is
{"name", "title", "of": figure or table of the paper, "paper": the paper's result, "missing": why,
or "setting", "verdicts": [{"what", "found", "met": true, false, or None: not judged}], "tables":
[{"caption", "columns", "rows"}], "plots": [plot.py], "disturbance": {"seconds", "steal_percent",
"load"}}.
"""

import html
import json

import plot

SCHEMA = "camp.paper/1"
STYLE = (
    ":root{color-scheme:light dark;--ground:#fff;--ink:#24292e;--faint:#57606a;--line:#d5d9de;"
    "--good:#1a7f37;--notable:#9a6700;--bad:#b3261e}"
    "@media(prefers-color-scheme:dark){:root{--ground:#15181c;--ink:#e6e8eb;--faint:#9aa4af;"
    "--line:#363c44;--good:#57ab5a;--notable:#d4a72c;--bad:#ff8078}}"
    "body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.45 sans-serif}"
    "main{max-width:62rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.4rem}h2{font-size:1.15rem;margin:2.2rem 0 .4rem}p{margin:.35rem 0;max-width:52rem}"
    "figure{margin:1rem 0;overflow-x:auto}figure svg{display:block;max-width:100%;height:auto;"
    "border-radius:4px}div{overflow-x:auto}a{color:inherit}"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;margin:.6rem 0}"
    "caption,summary{text-align:left;color:var(--faint);padding-bottom:.3rem}"
    "th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:top}th{color:var(--faint);font-weight:600}"
    "th.number,td.number{text-align:right;white-space:nowrap}"
    "ul{list-style:none;padding:0;margin:.5rem 0;font-size:.93rem}li{margin:.15rem 0}"
    "b{font-weight:600}.good{color:var(--good)}.bad{color:var(--bad)}.faint{color:var(--faint)}"
    ".notable{color:var(--notable)}")
ROWS_OPEN = 16  # a table with more is shown when it is asked for
# The verdict's word and style.
WORDS = {True: ("as expected", "good"), False: ("differs", "bad"), None: ("not judged", "faint")}


def element(name, words, look=""):
    of = f' class="{look}"' if look else ""
    return f"<{name}{of}>{html.escape(str(words))}</{name}>"


def number(value):
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def cell(name, value):
    if value is None:
        return element(name, "–", "number")
    if isinstance(value, (int, float)):
        return element(name, number(value), "number")
    return element(name, value)


def table(one):
    rows = one["rows"]
    numeric = [any(isinstance(row[at], (int, float)) for row in rows)
               for at in range(len(one["columns"]))]
    head = "".join(element("th", name, "number" if right else "")
                   for name, right in zip(one["columns"], numeric))
    body = "".join(f"<tr>{''.join(cell('td', value) for value in row)}</tr>" for row in rows)
    if len(rows) > ROWS_OPEN:
        return (f"<details>{element('summary', one['caption'])}<div><table><tr>{head}</tr>{body}</table>"
                "</div></details>")
    return f"<div><table>{element('caption', one['caption'])}<tr>{head}</tr>{body}</table></div>"


def verdict(one):
    word, look = WORDS[one["met"]]
    return (f"<li>{element('b', word, look)} {html.escape(one['what'])} "
            f"{element('span', '(' + one['found'] + ')', 'faint')}</li>")


def disturbance_text(of):
    return (f"Took {of['seconds']:.0f} s; the hypervisor stole {of['steal_percent']:.2f} % of all CPUs; "
            f"load average at its end {of['load']:.1f}.")


def heading(part):
    return f"{part['of']}: {part['title']}"


def section(part):
    words = [f'<section id="{part["name"]}">', element("h2", heading(part)),
             f"<p>{element('b', 'The paper:')} {html.escape(part['paper'])}</p>"]
    if "missing" in part:
        return "".join(words + [f"<p>{element('b', 'Missing here:', 'notable')} "
                                f"{html.escape(part['missing'])}</p></section>"])
    words += [f"<p>{element('b', 'Here:')} {html.escape(part['setting'])}. "
              f"{html.escape(disturbance_text(part['disturbance']))}</p>",
              f"<ul>{''.join(map(verdict, part['verdicts']))}</ul>"]
    words += [f"<figure>{plot.draw(one)}</figure>" for one in part["plots"]]
    words += [table(one) for one in part["tables"]]
    return "".join(words) + "</section>"


def score(part):
    """Returns "7 as expected, 1 differs", or why the part is missing."""
    if "missing" in part:
        return "missing: " + part["missing"]
    counts = {met: sum(one["met"] is met for one in part["verdicts"]) for met in WORDS}
    return ", ".join(f"{count} {WORDS[met][0]}" for met, count in counts.items() if count)


def overview(report):
    rows = [f'<tr><td><a href="#{part["name"]}">{html.escape(heading(part))}</a></td>'
            f"{element('td', score(part))}</tr>" for part in report["parts"]]
    return f"<table><tr><th>of the paper</th><th>here</th></tr>{''.join(rows)}</table>"


def machine(report):
    facts = dict(report["machine"])
    facts["run"] = "short (--quick): fewer samples, wider intervals" if report["quick"] else "whole"
    rows = "".join(f"<tr>{element('td', name)}{element('td', words)}</tr>"
                   for name, words in facts.items())
    return f"<table>{rows}</table>"


def embedded(report):
    """Returns the data as JSON; no text in it can end the script element."""
    return json.dumps(report).replace("<", "\\u003c")


def write(report):
    """Returns the whole document."""
    title = "The CAMP paper's evaluations, repeated"
    about = ("CAMP: A Common API for Measuring Performance (Gabel and Haungs, LISA '07) validated and "
             "timed its functions on three systems. These are the same experiments with camp, made by "
             "bench/paper/run. Where the paper has figures as pictures only, its text is quoted.")
    return "".join([
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        element("title", title), f"<style>{STYLE}{plot.STYLE}</style></head><body><main>",
        element("h1", title), element("p", about), machine(report), overview(report), "\n",
        "\n".join(map(section, report["parts"])),
        '\n<script type="application/json" id="data">', embedded(report), "</script>",
        "\n</main></body></html>\n"])
