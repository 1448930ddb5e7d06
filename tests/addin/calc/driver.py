"""Runs under the system's Python, which has UNO: does to a running soffice what the tests ask, line by line in JSON.

One line in is `[command, argument, ...]`, one line out `{"value": ...}` or `{"error": ...}`.
"""

import json
import math
import sys
import threading
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.lang import Locale
from com.sun.star.sheet.FormulaResult import ERROR
from com.sun.star.table.CellContentType import FORMULA
from com.sun.star.util import URL

CONNECT_S = 60
VALUES_S = 60


class Driver:
    def __init__(self, pipe):
        self.context = connect(pipe)
        self.desktop = self.make("com.sun.star.frame.Desktop")
        self.document = None

    def make(self, service):
        return self.context.ServiceManager.createInstanceWithContext(service, self.context)

    def load_hidden(self, url):
        self.document = self.desktop.loadComponentFromURL(url, "_blank", 0, properties(Hidden=True))

    def load_visible(self, url):
        self.document = self.desktop.loadComponentFromURL(url, "_blank", 0, ())

    def current(self):
        """Take the document that soffice was started with, as soon as its window is there."""
        deadline = time.monotonic() + CONNECT_S
        while (frame := self.desktop.getCurrentFrame()) is None or frame.getController() is None:
            if time.monotonic() > deadline:
                raise TimeoutError("soffice showed no document")
            pause()
        self.document = frame.getController().getModel()

    def new_hidden(self):
        self.load_hidden("private:factory/scalc")

    def close(self):
        self.document.close(True)  # noqa: FBT003 - UNO takes no names

    def cells(self, name):
        return self.document.Sheets[0].getCellRangeByName(name)

    def show(self, name):
        """Return what each cell of a range shows."""
        return [[text(cell) for cell in row] for row in rows(self.cells(name))]

    def formula(self, name):
        return self.cells(name).getFormula()

    def put(self, name, formula):
        self.cells(name).setFormula(formula)

    def put_array(self, name, formula):
        self.cells(name).setArrayFormula(formula)

    def put_formulas(self, name, formulas):
        """Write formulas one below the other."""
        for row, formula in enumerate(formulas):
            place = self.cells(name).getCellAddress()
            self.document.Sheets[0].getCellByPosition(place.Column, place.Row + row).setFormula(formula)

    def shown_text(self, name):
        return self.cells(name).getString()

    def set_format(self, name, code):
        english = Locale("en", "US", "")
        formats, scan = self.document.NumberFormats, False
        key = formats.queryKey(code, english, scan)
        self.cells(name).NumberFormat = formats.addNew(code, english) if key < 0 else key

    def standard_format(self):
        """Return how this office's language writes the format of a cell without one."""
        return self.document.NumberFormats.getByKey(0).FormatString

    def used_area(self):
        cursor = self.document.Sheets[0].createCursor()
        cursor.gotoEndOfUsedArea(False)  # noqa: FBT003 - UNO takes no names
        cursor.gotoStartOfUsedArea(True)  # noqa: FBT003
        return cursor.AbsoluteName.replace("$", "").partition(".")[2]

    def array_at(self, name):
        """Return the area that the array formula in a cell fills."""
        sheet = self.document.Sheets[0]
        cursor = sheet.createCursorByRange(sheet.getCellRangeByName(name))
        cursor.collapseToCurrentArray()
        return cursor.AbsoluteName.replace("$", "").partition(".")[2]

    def calculate_all(self):
        self.document.calculateAll()

    def store(self, url, kind):
        self.document.storeToURL(url, properties(FilterName=kind))

    def store_as(self, url, kind):
        self.document.storeAsURL(url, properties(FilterName=kind))

    def select(self, name):
        self.document.getCurrentController().select(self.cells(name))

    def dispatch(self, url):
        """Give a command of the menu; return what it reports."""
        frame = self.document.getCurrentController().getFrame()
        helper = self.make("com.sun.star.frame.DispatchHelper")
        return helper.executeDispatch(frame, url, "_self", 0, ()).Result

    def has_bar(self, name):
        """Return whether a bar is shown above the cells, as soon as it is."""
        view = self.document.getCurrentController()
        wait(lambda: view.hasInfobar(name))
        return view.hasInfobar(name)

    def dispatch_in_all_windows(self, command):
        """Give a command in every window at once; return what the last one reports."""
        url = URL(Complete=command)
        _, url = self.make("com.sun.star.util.URLTransformer").parseStrict(url)
        components = self.desktop.Components.createEnumeration()
        while components.hasMoreElements():
            document = components.nextElement()
            is_sheet = document.supportsService("com.sun.star.sheet.SpreadsheetDocument")
            if is_sheet and document != self.document:
                frame = document.getCurrentController().getFrame()
                frame.queryDispatch(url, "_self", 0).dispatch(url, ())
        return self.dispatch(command)

    def call(self, function, arguments):
        """Call a function as a macro does."""
        return self.make("com.sun.star.sheet.FunctionAccess").callFunction(function, tuple(arguments))

    def undo(self):
        self.document.getUndoManager().undo()

    def undo_titles(self):
        return list(self.document.getUndoManager().getAllUndoActionTitles())

    def is_modified(self):
        return self.document.isModified()

    def wait_until_shown(self, name, unwanted, sheet=None):
        """Return what a cell shows as soon as it is something else."""
        cell = self.document.Sheets.getByName(sheet).getCellRangeByName(name) if sheet else self.cells(name)
        wait(lambda: text(cell) != unwanted)
        return text(cell)

    def wait_for_values(self):
        """Return the cells that still show an error after some seconds, mostly none."""
        wait(lambda: not any(self.in_error()), VALUES_S)
        return self.errors()

    def wait_for_chart(self, sheet, points):
        """Return the values of a sheet's first chart, as soon as it has so many."""
        chart = self.document.Sheets.getByName(sheet).Charts[0].EmbeddedObject
        wait(lambda: len(drawn(chart)) == points, VALUES_S)
        return drawn(chart)

    def wait_for_text(self, wanted):
        """Return whether some cell of the first sheet shows a text within some seconds."""
        searched = self.document.Sheets[0].createSearchDescriptor()
        searched.SearchString = wanted
        return wait(lambda: self.document.Sheets[0].findFirst(searched) is not None, VALUES_S)

    def activate(self, sheet):
        """Show another sheet, as a click on its tab does."""
        self.document.getCurrentController().setActiveSheet(self.document.Sheets.getByName(sheet))

    def values(self, sheet):
        """Return the value of every cell of a sheet's used area, from A1 on."""
        found = self.document.Sheets.getByName(sheet)
        cursor = found.createCursor()
        cursor.gotoEndOfUsedArea(False)  # noqa: FBT003 - UNO takes no names
        end = cursor.getRangeAddress()
        return found.getCellRangeByPosition(0, 0, end.EndColumn, end.EndRow).getDataArray()

    def shown_texts(self, sheet, names):
        """Return what some cells of a sheet show."""
        found = self.document.Sheets.getByName(sheet)
        return [found.getCellRangeByName(name).getString() for name in names]

    def errors(self):
        """Return which cells of every sheet show an error, and which: `{"Sheet.A1": "#N/A"}`."""
        return {cell.AbsoluteName.replace("$", ""): cell.getString() for cell in self.in_error()}

    def in_error(self):
        for sheet in self.document.Sheets:
            for area in sheet.queryFormulaCells(ERROR):
                yield from (cell for row in rows(area) for cell in row if cell.getError())

    def describe(self, function):
        """Return what the function wizard shows of a function."""
        descriptions = self.make("com.sun.star.sheet.FunctionDescriptions")
        found = {p.Name: p.Value for p in descriptions.getByName(function)}
        arguments = [[a.Name, a.Description] for a in found["Arguments"]]
        return {"description": found["Description"], "arguments": arguments}

    def quit(self):
        self.desktop.terminate()


def connect(pipe):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    deadline = time.monotonic() + CONNECT_S
    while True:
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            if time.monotonic() > deadline:
                raise
            pause()


def pause():
    """Give soffice some time: it tells nobody when it is ready, or when a cell has changed."""
    threading.Event().wait(0.05)


def wait(condition, time_s=CONNECT_S):
    """Return whether a condition holds, at the latest after the time."""
    deadline = time.monotonic() + time_s
    while not (holds := condition()) and time.monotonic() < deadline:
        pause()
    return holds


def drawn(chart):
    """Return the numbers that a chart draws in its first series."""
    system = chart.FirstDiagram.CoordinateSystems[0]
    series = system.ChartTypes[0].DataSeries[0]
    return [
        value for value in series.DataSequences[0].Values.Data if isinstance(value, float) and not math.isnan(value)
    ]


def properties(**values):
    return tuple(PropertyValue(name, 0, value, 0) for name, value in values.items())


def rows(cells):
    place = cells.getRangeAddress()
    for y in range(place.EndRow - place.StartRow + 1):
        yield [cells.getCellByPosition(x, y) for x in range(place.EndColumn - place.StartColumn + 1)]


def text(cell):
    """Return a number where there is one, else what is shown."""
    shown_as_number = cell.Type == FORMULA and cell.FormulaResultType2 == 1 and not cell.getError()
    return cell.getValue() if shown_as_number else cell.getString()


def main():
    driver = Driver(sys.argv[1])
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            reply = {"value": getattr(driver, command)(*arguments)}
        except Exception as error:  # noqa: BLE001 - the test shall see it
            reply = {"error": repr(error)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


main()
