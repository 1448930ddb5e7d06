"""Finding records and their fields: names, search, filters."""

from udfs.records.fields import Fields, is_unsafe_address, moment
from udfs.records.lookup import LISTED, by_slug, corrected, in_order, matches, nearest, ranked, searched_words
from udfs.records.resolve import HOW_SEVERAL, SEE_SIGNALS, need_catalogue, need_detail
from udfs.records.revisions import last_revision

__all__ = [
    "HOW_SEVERAL",
    "LISTED",
    "SEE_SIGNALS",
    "Fields",
    "by_slug",
    "corrected",
    "in_order",
    "is_unsafe_address",
    "last_revision",
    "matches",
    "moment",
    "nearest",
    "need_catalogue",
    "need_detail",
    "ranked",
    "searched_words",
]
