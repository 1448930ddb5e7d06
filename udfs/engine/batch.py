"""A batch answers what functions ask for (`udfs.engine.effects`), and notes what the result of each rests on.

A `Batch` runs its functions side by side, round by round: every round collects the questions of all, asks each resource
once, and goes on. What memory holds is answered at once, without a round.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, TypeVar

from dataservice.client import Answer, CatalogueCheck, HistoryResource, KnownDaysResource, Meter, Miss, Resource
from dataservice.errors import DataServiceError, NotFoundError
from udfs.engine.effects import JOIN, PAUSE, Asking, Beside, Question, Reply, Sought
from udfs.engine.following import Gate, ResultSink
from udfs.engine.run import Resolved, Run
from udfs.engine.scheduler import Round, WaitIndex, in_order, next_turn, ramp_up, side_by_side, yielding

T = TypeVar("T")


class Reader(Protocol):
    """What a batch needs of a client."""

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory: a fresh one, or with `max_age_s` one that is not older."""

    async def last_known(self, resource: Resource[T]) -> Answer[T] | None:
        """The answer in any cache, however old."""

    async def catalogue_check(self, names: int) -> CatalogueCheck:
        """How so many signals are to be tried that nothing at hand vouches for: the catalogue may be read first."""

    async def read(
        self, resource: Resource[T], *, known_miss: Miss[T] | None = None, meter: Meter | None = None
    ) -> Answer[T]:
        """The answer, from the service if need be; with `known_miss` no store is looked into again.

        `meter` counts what it spends, also where it raises.
        """


class Batch:
    """Functions side by side, begun at `now`: each resource is looked up and read at most once, the widest first.

    `gate` is told what is to be fetched before it is; a `follower` gets each function as soon as it ends.
    """

    def __init__(self, reader: Reader, now: float, *, gate: Gate | None = None) -> None:
        self._reader = reader
        self._now = now
        self._gate = gate
        self.follower: ResultSink | None = None
        self._waiting_for = WaitIndex((), ())
        self._learned: dict[Question, Resolved] = {}
        self._misses: dict[Resource[Any], Miss[Any]] = {}
        """What no cache holds a fresh answer to: looked up once, and then read without another look."""
        self._not_in_memory: set[Question] = set()
        """What this round has looked for in memory: a hundred thousand functions may ask the same."""
        self._meters: dict[Question, Meter] = {}
        """The requests of each read that no function was charged with yet."""
        self._waiting: list[Run] = []
        self._looked_up: dict[Resource[Any], Reply] = {}
        self._known_past: set[Hashable] = set()
        """The families of windows of which a cache knows something."""
        self._seekers: list[Run] = []
        """Who has said what it will fetch if nothing at hand is enough."""
        self._exist = 0
        """How many of the names exist that were in doubt."""
        self._open: list[Sequence[Run]] = []
        """Who went on with each of them, and has not asked for it under its name yet."""

    def at_hand(self, question: Question) -> Resolved | None:
        """The reply to a question and what it means, where memory or this batch knows it."""
        return self._learned.get(question) or self._from_memory(question)

    def begin(self, run: Run) -> None:
        """Let `run` go as far as memory can answer; most end here."""
        self._go_on(run, None)
        if run.questions:
            self._waiting.append(run)

    async def end(self) -> None:
        """Bring all that have begun to their end."""
        while self._waiting:
            asking = [run for run in self._waiting if run.questions is not PAUSE and run.questions is not JOIN]
            missing = self._missing(asking)
            if self._gate and not await self._is_let_through(self._gate, [q for q in missing if q.may_fetch]):
                missing = self._missing(asking)
            undecided = [question for question in missing if question.instead_of is not None]
            if undecided or self.follower is not None:
                self._waiting_for = WaitIndex(asking, missing)
            for part in await in_order([question for question in missing if question.instead_of is None]):
                await side_by_side(self._ask, part)
            if undecided:
                await self._decide(undecided)
            await next_turn()  # other tasks go first before each turn of a function with much to do
            self._not_in_memory.clear()
            async for run in yielding(self._waiting):
                self._take_turn(run)
            self._waiting = [run for run in self._waiting if run.questions]

    def _missing(self, asking: Sequence[Run]) -> dict[Question, None]:
        """Return what these functions ask that has no reply yet, and is to be asked in this round."""
        asked = {question: None for run in asking for question in run.questions if question not in self._learned}
        sought = [run.sought for run in self._seekers if run.is_looking] if self._seekers else ()
        plan = Round(asked, sought, self._known_past)
        for question in plan.spared:
            self._learn(question, None)
        left_out = plan.spared | plan.later
        return {question: None for question in asked if question not in left_out} if left_out else asked

    async def _is_let_through(self, gate: Gate, asked: Sequence[Question]) -> bool:
        """Tell the gate what is to be fetched; where that fails, so does what is asked, and nothing else."""
        try:
            if asked:
                await gate([question.instead_of or question.resource for question in asked])
        except Exception as error:  # noqa: BLE001 - it becomes the error of the cells that asked
            for question in asked:
                self._learn(question, error if question.cached_max_age_s is None else None)
            return False
        return True

    async def _ask(self, question: Question) -> None:
        """Learn the reply; with a follower, those who lack no other go on at once, and nobody's question is left out.

        What they ask next waits for the next round, where it is asked together with all others.
        """
        if self.follower is None or question.cached_max_age_s is not None:
            self._learn(question, await self._reply(question))
        else:
            async with self.follower.places:
                if not any(self.follower.wants(run.whole) for run in self._waiting_for.of(question)):
                    return
                self._learn(question, await self._reply(question))
        if self.follower is None:
            return
        async for run in yielding(self._waiting_for.replied(question)):
            self._take_turn(run)
            while run.questions is PAUSE:
                await next_turn()
                self._take_turn(run)

    def _take_turn(self, run: Run) -> None:
        """Let a function that waits go on, if it can; give it up if nobody wants it."""
        if not run.questions:
            return
        if self.follower is not None and not self.follower.wants(run.whole):
            run.close()
            run.given_up = True
            self._tell(run)
        elif run.questions is not JOIN:
            replied = () if run.questions is PAUSE else self._replies(run, run.questions)
            if replied is not None:
                self._go_on(run, replied)
                self._tell(run)

    def _tell(self, run: Run) -> None:
        """Tell the follower of a call that has ended."""
        if self.follower is not None and run.within is None and not run.questions:
            self.follower.ended(run)

    def _go_on(self, run: Run, replies: Sequence[Reply] | None) -> None:
        """Go on with `replies` as far as those so far and memory can answer, or to the next pause."""
        asking = run.asking
        if asking is None:
            return
        run.questions = ()
        given: Any = replies  # None begins it
        while True:
            try:
                questions: Any = asking.send(given)
            except StopIteration as end:
                run.result = end.value
                break
            except BaseException as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
                run.fail(error)
                break
            if isinstance(questions, Beside):
                given = self._begin_beside(run, questions.askings)
            elif isinstance(questions, Sought):
                run.sought, given = questions.resource, ()
                self._seekers.append(run)
            elif questions is JOIN and not run.open_parts:
                given = ()
            elif questions is PAUSE or questions is JOIN or (given := self._replies(run, questions)) is None:
                run.questions = questions
                return
        run.asking, run.questions = None, ()
        if run.within is not None:
            self._join(run.within, run)

    def _begin_beside(self, run: Run, askings: Sequence[Asking[Any]]) -> list[Run]:
        """Begin the parts of a function, each as a call of its own that asks for itself."""
        parts = [Run(asking, within=run, used=None if run.used is None else {}) for asking in askings]
        run.open_parts += len(parts)
        for part in parts:
            self.begin(part)
        return parts

    def _join(self, whole: Run, part: Run) -> None:
        """Count a part that has ended; the last one lets the function that began them go on."""
        whole.take(part)
        if whole.questions is JOIN and not whole.open_parts:
            self._go_on(whole, ())
            self._tell(whole)

    def _replies(self, run: Run, questions: Sequence[Question]) -> Sequence[Reply] | None:
        """The replies to all of `questions`, noted for `run`; None as long as one is missing."""
        known = self._learned
        if len(questions) == 1 and run.used is None and not self._meters:  # what nearly every function asks
            only = self.at_hand(questions[0])
            if only is not None:
                run.note(only)
            return None if only is None else only.replies
        for question in questions:
            if question not in known and self._from_memory(question) is None:
                return None
        for question in questions:
            run.note(known[question])
        if run.used is not None:
            used = [(question.resource, known[question].replies[0]) for question in questions]
            run.used |= {resource: reply for resource, reply in used if isinstance(reply, Answer)}
        if self._meters:
            run.requests += sum([self._meters.pop(q).requests for q in questions if q in self._meters])
        return [known[question].replies[0] for question in questions]

    def _from_memory(self, question: Question) -> Resolved | None:
        """Return what memory holds, where that is enough."""
        resource = question.resource
        if question in self._not_in_memory:
            return None
        if question.cached_max_age_s is None and resource.family is resource and resource in self._misses:
            return None  # nothing wider can have brought it, and whoever fetches it looks into memory once more
        max_age_s = question.cached_max_age_s or None
        found = self._reader.peek(question.resource, max_age_s=max_age_s) if question.instead_of is None else None
        if found is None and not question.only_memory:
            self._not_in_memory.add(question)
            return None
        return self._learn(question, found)

    async def _decide(self, questions: Sequence[Question]) -> None:
        """Reply to those who ask for a resource instead of another: with its answer, or None to go on without.

        As long as nothing speaks against their names, few go on first: should these not exist, the others are looked up
        together.
        """
        doubtful = [question for question in questions if not self._is_known(question)]
        is_settled = any(question.resource in self._looked_up for question in doubtful)
        check = await self._catalogue_check(len(doubtful)) if doubtful and not is_settled else CatalogueCheck.NONE
        if check is CatalogueCheck.LOAD:
            asked = Question(doubtful[0].resource)
            if asked not in self._learned:
                self._misses.pop(asked.resource, None)  # it was looked up before the first names were tried
                self._learn(asked, await self._reply(asked))
                self._meters[doubtful[0]] = self._meters.pop(asked)
            self._looked_up[asked.resource] = self._learned[asked].replies[0]
        elif check is CatalogueCheck.PROBE:
            still_open = [runs for runs in self._open if any(run.questions for run in runs)]
            self._exist += len(self._open) - len(still_open)  # else there were more in doubt
            self._open = still_open
            self._exist = await ramp_up(self._try, doubtful, known=self._exist, not_known=len(still_open))
            in_doubt = set(doubtful)
            questions = [question for question in questions if question not in in_doubt]
        for question in questions:
            found = self._looked_up.get(question.resource)
            self._learn(question, question.accepted(found if isinstance(found, Answer) else None, self._now))

    async def _catalogue_check(self, names: int) -> CatalogueCheck:
        try:
            return await self._reader.catalogue_check(names)
        except Exception:  # noqa: BLE001 - then each is asked for under its own name
            return CatalogueCheck.NONE

    async def _try(self, question: Question) -> bool | None:
        """Let those go on who asked this to save asking for a name, and ask for that: whether it exists.

        None if that is not known before the next round, which fetches what else they ask.
        """
        self._learn(question, None)
        name = Question(question.instead_of)  # type: ignore[arg-type]  # of what is decided none lacks it
        runs = self._waiting_for.replied(question)
        async for run in yielding(runs):
            self._take_turn(run)
        if name not in self._learned:  # else others asked for it in this round
            asked = [each for each in self._missing(runs) if each.resource == name.resource and each.may_fetch]
            if not asked:
                self._open.append(runs)
                return None
            for each in asked:
                self._waiting_for.add(each, [run for run in runs if each in run.questions])
                await self._ask(each)
        learned = self._learned.get(name)
        return None if learned is None else not isinstance(learned.replies[0], NotFoundError)

    def _is_known(self, question: Question) -> bool:
        """Return whether an old answer shows that what the question wants to avoid does exist."""
        miss = self._misses.get(question.instead_of) if question.instead_of is not None else None
        return miss is not None and miss.last_known is not None

    def _learn(self, question: Question, reply: Reply) -> Resolved:
        learned = self._learned[question] = Resolved.of(question, reply)
        if question.unless is not None and reply is not None:
            self._learned.setdefault(Question(question.resource), learned)
        return learned

    async def _reply(self, question: Question) -> Reply:
        """The reader's answer; an exception is one too, so that one bad resource never harms the batch."""
        try:
            if question.cached_max_age_s is None:
                if question.unless is not None and await self._is_spared(question, question.unless):
                    return None
                meter = self._meters[question] = Meter()
                miss = self._misses.get(question.resource)
                return await self._reader.read(question.resource, known_miss=miss, meter=meter)
            return question.accepted(await self._last_known(question), self._now)
        except Exception as error:  # noqa: BLE001 - it becomes the error of the cells that asked
            return error if question.cached_max_age_s is None else None

    async def _is_spared(self, question: Question, window: HistoryResource) -> bool:
        """Return whether any cache has a fresh `window`, and nothing of the answer itself.

        Another process, or one before this, may have fetched it. One that is not looked for is not kept as asked for.
        """
        if await self._last_known(question) is not None:
            return False
        days = await self._reader.last_known(KnownDaysResource(window.slug))
        if days is None or self._reader.peek(question.resource) is not None:
            return False
        if not any(each.meets(window.days) for each in days.value):
            return False
        found = await self._reader.last_known(window)
        return found is not None and found.is_fresh(self._now)

    async def _last_known(self, question: Question) -> Answer[Any] | None:
        """The answer in any cache; a miss is remembered for the length of the batch."""
        miss = self._misses.get(question.resource)
        if miss is not None:
            return _peek(question, self._reader) or miss.last_known  # the batch itself may have fetched it meanwhile
        found = await self._reader.last_known(question.resource)
        if found is not None and isinstance(question.resource, HistoryResource):
            self._known_past.add(question.resource.family)
        if found is None or not found.is_fresh(self._now):
            self._misses[question.resource] = Miss(found)
        return found


async def answer(runs: Sequence[Run], reader: Reader, now: float, gate: Gate | None = None) -> None:
    """Bring all `runs`, begun at `now`, to their end; `gate` is told what is to be fetched before it is."""
    batch = Batch(reader, now, gate=gate)
    for run in runs:
        batch.begin(run)
    await batch.end()


class Inventory:
    """A reader that sends nothing: it notes what is not fresh, and answers with what is known of it."""

    def __init__(self, reader: Reader, now: float) -> None:
        self._reader = reader
        self._now = now
        self.peek = reader.peek
        self.last_known = reader.last_known
        self.missing: set[Resource[Any]] = set()

    async def catalogue_check(self, names: int) -> CatalogueCheck:  # noqa: ARG002 - a reader's signature
        """None: each name is asked for as it is."""
        return CatalogueCheck.NONE

    async def read(
        self,
        resource: Resource[T],
        *,
        known_miss: Miss[T] | None = None,
        meter: Meter | None = None,  # noqa: ARG002 - nothing is spent
    ) -> Answer[T]:
        """The last known answer, marked as not asked for; raises `DataServiceError` where there is none."""
        known = known_miss.last_known if known_miss else await self._reader.last_known(resource)
        if known is not None and known.is_fresh(self._now):
            return known
        self.missing.add(resource)
        if known is None:
            raise DataServiceError("not asked")
        return known.stale(DataServiceError("not asked"))


def _peek(question: Question, reader: Reader) -> Answer[Any] | None:
    return reader.peek(question.resource, max_age_s=question.cached_max_age_s or None)
