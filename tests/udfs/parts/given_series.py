"""Services that have given series, each in its detail and its observations, cut by the days that are asked for."""

from datetime import UTC, datetime

from tests.udfs.parts.asking import Canned
from udfs.engine.session import Session

NOON = datetime(2026, 8, 19, 12, tzinfo=UTC).timestamp()


class Windowed(Canned):
    """Canned answers whose observations are those of the days asked for, with their number as the embedded service."""

    def _answer(self, request):
        rows = self.answers.get(request.url.path)
        if not request.url.path.endswith("/observations") or rows is None:
            return super()._answer(request)
        start, end = (request.url.params.get(name) for name in ("start", "end"))
        inside = [row for row in rows if (start or "") <= row["observed_at"][:10] <= (end or "9999")]
        self.answers = {**self.answers, request.url.path: inside}
        found = super()._answer(request)
        self.answers = {**self.answers, request.url.path: rows}
        return found

    def _body(self, found):
        is_window = isinstance(found, list)
        return {"data": found} | (
            {"pagination": {"limit": 1_000, "offset": 0, "total": len(found)}} if is_window else {}
        )


def canned(now=NOON, **series):
    """A session on a service that has these series, each from times to values, in its detail and its observations."""
    answers = {}
    for name, values in series.items():
        slug = name.replace("_", "-")
        rows = [{"observed_at": str(when), "value": value} for when, value in values.items()]
        answers[f"/v1/signals/{slug}"] = {"slug": slug, "latest": rows[-1], "history": rows[-365:]}
        answers[f"/v1/signals/{slug}/observations"] = rows
    found = Windowed(answers)
    found.session = Session(found.session.client, clock=lambda: now)
    return found
