"""What SIGNAL_HISTORY computes: windows of a series, periods, transforms, alignment, tables."""

from udfs.timeseries.compute import Columns, Ending, Series, dated, series_of_table
from udfs.timeseries.coverage import SURE, recent
from udfs.timeseries.frequency import Freq, Frequency, Times, Unit, period_start
from udfs.timeseries.loader import NoObservationsError, latest, no_observations, rhythm_at_hand
from udfs.timeseries.options import Align, TableOptions
from udfs.timeseries.pipeline import Chain, Steps, text_of
from udfs.timeseries.resample import Agg, known_only
from udfs.timeseries.rhythm import Pace
from udfs.timeseries.table import Labelled, window_for
from udfs.timeseries.transforms import TRANSFORMS
from udfs.timeseries.vintages import Vintage, observed_as_of, series_of, vintages_of

__all__ = [
    "SURE",
    "TRANSFORMS",
    "Agg",
    "Align",
    "Chain",
    "Columns",
    "Ending",
    "Freq",
    "Frequency",
    "Labelled",
    "NoObservationsError",
    "Pace",
    "Series",
    "Steps",
    "TableOptions",
    "Times",
    "Unit",
    "Vintage",
    "dated",
    "known_only",
    "latest",
    "no_observations",
    "observed_as_of",
    "period_start",
    "recent",
    "rhythm_at_hand",
    "series_of",
    "series_of_table",
    "text_of",
    "vintages_of",
    "window_for",
]
