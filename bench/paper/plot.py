"""Plots as SVG, from data that describes itself.

    {"kind": "dots", "title", "x": AXIS, "categories": [NAME], "line": VALUE or absent,
     "series": [{"name", "points": [{"at", "low", "high"} or None for each category]}]}
    {"kind": "lines", "title", "x": AXIS, "y": AXIS, "marks": [{"x", "label"}] or absent,
     "series": [{"name", "points": [{"x", "at", "low", "high"}]}]}

AXIS: {"label", "unit", "log": true or absent, "from" and "to": its ends, or absent}. low and high may be
None or absent: a bar from one to the other otherwise. Colours are those of
src/views/pictures/palette.h: safe for colour-blind readers, 3:1 against white; each series has its own shape, too.
"""

import html
import math

COLOURS = ("#2861be", "#bb301e", "#d67e11", "#586c69", "#9442ff", "#5f969e", "#9e8b6f")
WIDTH = 880
RIGHT = 20
TOP = 46  # title and legend
BOTTOM = 46  # numbers and label
ROW = 24
LINES_HEIGHT = 240
GLYPH = 6.6  # mean width of a character of 12 px, in pixels
STYLE = ("svg text{font:12px sans-serif;fill:#24292e}svg .title{font-size:13px;font-weight:bold}"
         "svg .tick{font-size:11px;fill:#57606a}svg .grid{stroke:#d5d9de;stroke-width:1px}"
         "svg .mark{stroke:#57606a;stroke-width:1.2px;stroke-dasharray:4 3}"
         "svg .frame{stroke:#57606a;fill:none;stroke-width:1px}")


def shape(number, x, y, colour, radius=4.2):
    """Returns the mark of series `number`."""
    r = radius
    forms = (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"',
             f'<rect x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}"',
             f'<path d="M{x:.1f} {y - r - 1:.1f}l{r + 1} {2 * r}h{-2 * r - 2}z"',
             f'<path d="M{x:.1f} {y - r - 1:.1f}l{r + 1} {r + 1}l{-r - 1} {r + 1}l{-r - 1} {-r - 1}z"',
             f'<path d="M{x:.1f} {y + r + 1:.1f}l{r + 1} {-2 * r}h{-2 * r - 2}z"')
    return f'{forms[number % len(forms)]} fill="{colour}" stroke="#fff" stroke-width=".8"/>'


def number_text(value):
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-3 else f"{value:.9f}".rstrip("0")


class Axis:
    """Maps values to positions between two pixels, and selects the values that are labelled."""

    def __init__(self, axis, values, begin, end):
        values = [value for value in values if value is not None]
        self.log = axis.get("log", False)
        if self.log:
            values = [value for value in values if value > 0] or [1, 10]
        self.low, self.high = axis.get("from", min(values or [0])), axis.get("to", max(values or [1]))
        self.begin, self.end = begin, end
        self.unit = axis.get("unit", "")
        self.label = f"{axis['label']}{', ' if self.unit else ''}{self.unit}"
        self.ticks = self.log_ticks() if self.log else self.even_ticks()

    def even_ticks(self):
        span = self.high - self.low or abs(self.high) or 1
        step = 10 ** math.floor(math.log10(span / 4))
        step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 6)
        self.low = math.floor(self.low / step + 1e-9) * step
        self.high = max(math.ceil(self.high / step - 1e-9) * step, self.low + step)
        return [self.low + number * step for number in range(round((self.high - self.low) / step) + 1)]

    def log_ticks(self):
        first, last = math.floor(math.log10(self.low) + 1e-9), math.ceil(math.log10(self.high) - 1e-9)
        last = max(last, first + 1)
        steps = (1,) if last - first > 2 else (1, 2, 5)
        self.low, self.high = 10.0**first, 10.0**last
        return [step * 10.0**power for power in range(first, last) for step in steps] + [self.high]

    def place(self, value):
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log10(value / self.low) / math.log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


def text(x, y, words, look="", anchor="start"):
    of = f' class="{look}"' if look else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of}>{html.escape(words)}</text>'


def line(x1, y1, x2, y2, look):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{look}"/>'


def colour_of(number):
    return COLOURS[number % len(COLOURS)]


def legend(series):
    parts, x = [], 8.0
    for number, one in enumerate(series):
        parts += [shape(number, x + 5, 32, colour_of(number)), text(x + 14, 36, one["name"])]
        x += 32 + GLYPH * len(one["name"])
    return parts


def begin(plot, height):
    title = html.escape(plot["title"])
    return [f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
            f'aria-label="{title}"><rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            text(8, 16, plot["title"], "title"), *legend(plot["series"])]


def draw_x(axis, top, bottom):
    parts = []
    for value in axis.ticks:
        x = axis.place(value)
        parts += [line(x, top, x, bottom, "grid"),
                  text(x, bottom + 16, number_text(value), "tick", "middle")]
    return parts + [text((axis.begin + axis.end) / 2, bottom + 36, axis.label, "", "middle")]


def draw_bar(one, axis, across, vertical, colour):
    """Draws the bar from low to high of a point."""
    if one.get("low") is None or one.get("high") is None:
        return ""
    low, high = axis.place(one["low"]), axis.place(one["high"])
    ends = (across, low, across, high) if vertical else (low, across, high, across)
    return ('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"' % ends
            + f' stroke="{colour}" stroke-width="2" stroke-opacity=".55"/>')


def values_of(points):
    return [value for point in points if point
            for value in (point["at"], point.get("low"), point.get("high"))]


def draw_dots(plot):
    categories, series = plot["categories"], plot["series"]
    left = 24 + GLYPH * max(map(len, categories))
    bottom = TOP + ROW * len(categories) + 6
    parts = begin(plot, bottom + BOTTOM)
    values = [value for one in series for value in values_of(one["points"])]
    axis = Axis(plot["x"], values + ([plot["line"]] if "line" in plot else []), left, WIDTH - RIGHT)
    parts += draw_x(axis, TOP, bottom)
    if "line" in plot:
        parts.append(line(axis.place(plot["line"]), TOP, axis.place(plot["line"]), bottom, "mark"))
    for row, category in enumerate(categories):
        y = TOP + ROW * (row + 0.5) + 3
        parts += [text(left - 10, y + 4, category, "", "end")]
        for number, one in enumerate(series):
            if one["points"][row]:
                point, aside = one["points"][row], (number - (len(series) - 1) / 2) * 4
                parts += [draw_bar(point, axis, y + aside, False, colour_of(number)),
                          shape(number, axis.place(point["at"]), y + aside, colour_of(number))]
    return "".join(parts) + "</svg>"


def draw_lines(plot):
    series, left = plot["series"], 76
    bottom = TOP + LINES_HEIGHT
    parts = begin(plot, bottom + BOTTOM)
    points = [point for one in series for point in one["points"]]
    marks = plot.get("marks", [])
    x = Axis(plot["x"], [point["x"] for point in points] + [mark["x"] for mark in marks], left,
             WIDTH - RIGHT)
    y = Axis(plot["y"], values_of(points), bottom, TOP + 8)
    parts += draw_x(x, TOP, bottom)
    for value in y.ticks:
        parts += [line(left, y.place(value), WIDTH - RIGHT, y.place(value), "grid"),
                  text(left - 6, y.place(value) + 4, number_text(value), "tick", "end")]
    parts.append(f'<text transform="translate(14 {(TOP + bottom) / 2:.0f}) rotate(-90)" '
                 f'text-anchor="middle">{html.escape(y.label)}</text>')
    for mark in marks:
        parts += [line(x.place(mark["x"]), TOP, x.place(mark["x"]), bottom, "mark"),
                  text(x.place(mark["x"]) + 4, TOP + 12, mark["label"], "tick")]
    for number, one in enumerate(series):
        parts.append(draw_series(number, one["points"], x, y))
    return "".join(parts) + "</svg>"


def draw_series(number, points, x, y):
    colour = colour_of(number)
    path = " ".join(f"{x.place(point['x']):.1f},{y.place(point['at']):.1f}" for point in points)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>']
    parts += [draw_bar(point, y, x.place(point["x"]), True, colour) for point in points]
    few = len(points) <= 40  # a shape at each point of a long line would hide it
    marked = points if few else points[::max(1, len(points) // 12)]
    parts += [shape(number, x.place(point["x"]), y.place(point["at"]), colour, 4.2 if few else 3.4)
              for point in marked]
    return "".join(parts)


def picture(plot):
    """Returns the plot as a separate file."""
    return draw(plot).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(
        ">", f"><style>{STYLE.replace('svg ', '')}</style>", 1)


def draw(plot):
    """Returns the plot as one <svg> element."""
    return draw_dots(plot) if plot["kind"] == "dots" else draw_lines(plot)
