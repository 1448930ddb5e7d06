"""Every kind of cell on variants of the service: cold, warm, in any order, days later; none may be silently wrong.

python -m tests.attack.services --variants 220           and services that no switch describes
python -m tests.attack.services --variants 220 --probe   each is probed before
python -m tests.attack.services --variants 220 --shared  by two processes with one cache in a file, in any order
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from dataservice.server.variants import SWITCHES
from tests.attack.parts.told import Told, conclude
from tests.attack.services.cells import Verdict
from tests.attack.services.foreign import FOREIGN, UNSEEN_BY_ALL, ForeignWorld
from tests.attack.services.found import Found
from tests.attack.services.visits import visit
from tests.attack.services.world import Databases, World

MOST_TOLD = 10
"""Services that are named, with the most requests."""


def variants(count: int, seed: int) -> list[dict[str, str]]:
    """The embedded service, each switch alone, and pairs at random."""
    alone = [{name: value} for name, switch in SWITCHES.items() for value in switch.values[1:]]
    chance = random.Random(seed)
    pairs = [one | other for one, other in itertools.combinations(alone, 2) if set(one) != set(other)]
    return [{}, *alone, *chance.sample(pairs, max(0, count - 1 - len(alone)))]


def attack(
    wanted: Sequence[Mapping[str, str] | str], seed: int, *, probes: bool = False, shares: bool = False
) -> list[Found]:
    """What each variant, or foreign service by its name, shows; if it `shares`, to two processes with one cache."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases.made(folder)
        founds = []
        for number, service in enumerate(wanted):
            place = folder / str(number)
            place.mkdir()
            if isinstance(service, str):
                world, told = ForeignWorld(databases, (FOREIGN | UNSEEN_BY_ALL)[service], place), service
            else:
                world = World(databases, service, place)
                told = str(world.variant)
            founds.append(asyncio.run(visit(world, told, seed + number, place if shares else None, probes=probes)))
            shutil.rmtree(place)
            tell(founds[-1])
        return founds


def tell(found: Found) -> None:
    """Print a variant that is not all right."""
    counts = {verdict.value: found.count(verdict) for verdict in Verdict if found.count(verdict)}
    sys.stdout.write(f"{found.variant}: {counts} {found.requests}\n")
    seen = Counter((cell.name, verdict.value, why) for _, cell, verdict, why in found.verdicts if verdict != "right")
    for (name, verdict, why), times in seen.items():
        sys.stdout.write(f"    {verdict} ×{times} {name}: {why[:150]}\n")
    if found.deviations:
        sys.stdout.write(f"    named: {'; '.join(found.deviations)[:300]}\n")
    for line in found.invented:
        sys.stdout.write(f"    INVENTED {line}\n")


def main() -> None:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=220)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="these variants: end=excluded,page=300")
    parser.add_argument("--foreign", nargs="*", help="these services that no switch describes; all without a name")
    parser.add_argument("--probe", action="store_true", help="find out how each answers first")
    parser.add_argument("--shared", action="store_true", help="by two processes with one cache in a file")
    given = parser.parse_args()
    wanted: list[Mapping[str, str] | str] = [*variants(given.variants, given.seed)]
    if given.foreign is None and given.only is None and not given.probe:
        wanted += random.Random(given.seed).sample(sorted(FOREIGN), min(len(FOREIGN), given.variants // 2))
    if given.foreign is not None:
        wanted = [*(given.foreign or FOREIGN)]
    if given.only is not None:
        wanted = [dict(pair.split("=") for pair in text.split(",")) if text else {} for text in given.only]
    founds = attack(wanted, given.seed, probes=given.probe, shares=given.shared)
    conclude(summed_up(founds, probes=given.probe))


def _told_requests(founds: Sequence[Found], ours: Sequence[Found]) -> int:
    """Print the ten that spend the most, against the least of each; how many variants spend more than twice that.

    Of services that no switch describes the least is not known: they stand against the documented one.
    """
    spent = {found.variant: (found.spent, found.fewest) for found in founds}
    worst = sorted(spent.items(), key=lambda pair: pair[1][0] / pair[1][1], reverse=True)
    names = {found.variant for found in ours}
    dear = [variant for variant, (requests, fewest) in spent.items() if variant in names and requests > 2 * fewest]
    for title, is_ours in (("variants, against their own least", True), ("others, against the documented one", False)):
        told = [f"{name} {n}/{m} = {n / m:.2f}" for name, (n, m) in worst if (name in names) is is_ours][:MOST_TOLD]
        sys.stdout.write(f"most requests of {title}: {'; '.join(told) or 'none'}\n")
    sys.stdout.write(f"more than twice their least: {', '.join(dear) or 'none'}\n")
    return len(dear)


def summed_up(founds: Sequence[Found], *, probes: bool) -> Told:
    """What was found in all, printed; a probe that names less than 95 of 100 deviations counts as wrong."""
    ours = [found for found in founds if found.variant not in FOREIGN | UNSEEN_BY_ALL]
    right, silently = sum(found.is_right for found in ours), sum(found.count(Verdict.WRONG) for found in founds)
    made_up = sum(len(found.invented) for found in founds)
    sys.stdout.write(f"{right} of {len(ours)} variants all right\n")
    sys.stdout.write(f"of {len(founds)}: {silently} cells silently wrong, {made_up} invented\n")
    dear = _told_requests(founds, ours)
    unnamed = [found.variant for found in founds if not found.is_named] if probes else []
    if probes:
        sys.stdout.write(
            f"named as they are: {len(founds) - len(unnamed)} of {len(founds)}; not {', '.join(unnamed)}\n"
        )
    is_blind = len(unnamed) * 20 > len(founds)
    return Told(len(founds), wrong=silently + made_up + is_blind, over=dear)


if __name__ == "__main__":
    main()
