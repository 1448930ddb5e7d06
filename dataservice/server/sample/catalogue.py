"""The signals of the made-up data set: names everyone in the field knows, and how their values wander."""

import csv
from dataclasses import dataclass
from io import StringIO

SOURCE = "Made-up data"

# A price grows by `drift` a year and moves by `volatility` a year, both in percent of itself; a level moves by
# `volatility` percent of `around` a year and is drawn back to it.
_TABLE = """\
slug,shortcode,name,category,signal_type,unit,calendar,walk,around,volatility,drift,decimals,premium,description
us-cpi,CPI,US consumer price index,macro,index,index 2010=100,monthly,price,100,0.7,2.4,3,no,All items
us-unemployment,UNRATE,US unemployment rate,macro,rate,percent,monthly,level,4.6,18,0,1,no,Share of the labour force
us-10y,UST10Y,US Treasury 10-year yield,macro,rate,percent,weekdays,level,3.9,16,0,2,no,Constant maturity
eia.wti.spot,WTI,WTI crude oil spot price,commodities,price,USD per barrel,weekdays,price,64,32,2,2,no,Cushing
wb.gold,GOLD,Gold price,commodities,price,USD per troy ounce,monthly,price,1250,14,4.5,2,no,Monthly average
eia.henry-hub,NATGAS,Henry Hub natural gas price,commodities,price,USD per million Btu,weekdays,level,3.1,45,0,3,no,
sp-500,SPX,S&P 500 index,equities,index,points,weekdays,price,3900,16,7,2,no,"Close, without dividends"
cboe.vix,VIX,VIX volatility index,equities,index,points,weekdays,level,18.5,70,0,2,no,Close
etf.world,WRLD,World equity fund,etf,price,USD,weekdays,price,82,15,6,2,no,
fx.eur-usd,EURUSD,USD per EUR exchange rate,fx,rate,USD per EUR,weekdays,level,1.1,7,0,4,no,
fx.usd-jpy,USDJPY,JPY per USD exchange rate,fx,rate,JPY per USD,weekdays,level,138,9,0,2,no,
btc-usd,BTC,Bitcoin in US dollars,crypto,price,USD,daily,price,29000,55,18,2,no,"Every day, midnight UTC"
eth-usd,ETH,Ether in US dollars,crypto,price,USD,daily,price,1900,65,10,2,yes,
pm.rate-cut,,Rate cut at the next meeting,prediction,probability,percent,daily,level,46,60,0,1,yes,What a market says
survey.pmi,PMI,Purchasing managers' index,survey,index,points,monthly,level,51.2,7,0,1,no,Above 50 is growth
"""


@dataclass(frozen=True)
class MadeUpSignal:
    """A signal and the walk its values take."""

    slug: str
    shortcode: str
    name: str
    category: str
    signal_type: str
    unit: str
    calendar: str
    walk: str
    around: float
    volatility: float
    drift: float
    decimals: int
    premium: bool
    description: str

    @property
    def row(self) -> list[str]:
        """The signal's row in signals.csv, in the order of `COLUMNS`."""
        premium = "true" if self.premium else "false"
        name = f"{self.name} (made up)"
        kind = (self.category, self.signal_type, SOURCE)
        return [self.slug, self.shortcode, name, *kind, self.description, self.unit, premium]


COLUMNS = ["slug", "shortcode", "name", "category", "signal_type", "source", "description", "unit", "is_premium"]


def _signal(row: dict[str, str]) -> MadeUpSignal:
    return MadeUpSignal(
        slug=row["slug"],
        shortcode=row["shortcode"],
        name=row["name"],
        category=row["category"],
        signal_type=row["signal_type"],
        unit=row["unit"],
        calendar=row["calendar"],
        walk=row["walk"],
        around=float(row["around"]),
        volatility=float(row["volatility"]),
        drift=float(row["drift"]),
        decimals=int(row["decimals"]),
        premium=row["premium"] == "yes",
        description=row["description"],
    )


SIGNALS = tuple(_signal(row) for row in csv.DictReader(StringIO(_TABLE)))
