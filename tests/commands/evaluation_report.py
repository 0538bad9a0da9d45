"""Checks a report of bench/paper/run, for the command tests: evaluation_report.py CHECK DATA HTML."""

import html.parser
import json
import sys

VOID = {"meta", "line", "rect", "circle", "path", "polyline"}


class Report(html.parser.HTMLParser):
    """Parses a report; raises an error if the HTML is not well-formed."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.attributes = [], []
        self.sections = {}  # id: {"text", "plots": [the texts of each]}
        self.section = None
        self.data = ""
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        if tag == "section":
            self.section = self.sections[dict(attributes)["id"]] = {"text": "", "plots": []}
        if tag == "svg":
            self.section["plots"].append([])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open.pop() == tag, f"</{tag}> closes another"
        if tag == "section":
            self.section = None

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.data += data
        elif self.section is not None:
            self.section["text"] += data
            if self.open[-1] == "text":
                self.section["plots"][-1].append(data)


def plots_of(data):
    return [(part, plot, number) for part in data["parts"]
            for number, plot in enumerate(part.get("plots", []))]


def label(axis):
    return f"{axis['label']}, {axis['unit']}" if axis.get("unit") else axis["label"]


def check_parts(data, report):
    """Each part is in order, with the result of the paper, and with each verdict or why the part is missing."""
    assert list(report.sections) == [part["name"] for part in data["parts"]]
    for part in data["parts"]:
        text = report.sections[part["name"]]["text"]
        assert f"{part['of']}: {part['title']}" in text and part["paper"] in text
        for verdict in part.get("verdicts", []):
            assert verdict["what"] in text and verdict["found"] in text
        assert ("missing" not in part) or f"Missing here: {part['missing']}" in text


def check_plots(data, report):
    """Each plot has its title, its axes and their units, every series and every category."""
    assert sum(len(section["plots"]) for section in report.sections.values()) == len(plots_of(data))
    for part, plot, number in plots_of(data):
        texts = report.sections[part["name"]]["plots"][number]
        wanted = [plot["title"], label(plot["x"])] + [one["name"] for one in plot["series"]]
        wanted += plot["categories"] if plot["kind"] == "dots" else [label(plot["y"])]
        wanted += [mark["label"] for mark in plot.get("marks", [])]
        for words in wanted:
            assert words in texts, f"{plot['title']}: nowhere: {words}"
        ticks = [text for text in texts if text.replace(",", "").replace(".", "", 1).isdigit()]
        assert len(ticks) >= 2, f"{plot['title']}: numbers {ticks}"


def check_places(data, report):
    """Each mark is inside its picture, and its coordinates are numbers."""
    for tag, name, value in report.attributes:
        if name in ("cx", "cy", "x1", "x2", "y1", "y2", "x", "y"):
            assert 0 <= float(value) <= 900, f"{tag} {name}={value}"
    assert plots_of(data)


def check_data(data, report):
    """The report contains the data, and loads nothing from a network."""
    assert json.loads(report.data) == data
    for tag, name, value in report.attributes:
        assert name not in ("src", "srcset", "action", "onload"), f"{tag} {name}"
        assert name != "href" or value.startswith("#"), f"{tag} {name}={value}"


def main():
    name, data, path = sys.argv[1:]
    with open(data, encoding="utf-8") as file:
        data = json.load(file)
    globals()[f"check_{name}"](data, Report(path))


main()
