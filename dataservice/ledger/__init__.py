"""What must not be lost: facts that are stored durably, never evicted, and never made up while the store is away.

The stores beside this (`dataservice.stores`) may forget, and answer a failure with "nothing is kept"; a ledger raises.
`RedisLedger` needs the extra `redis`, and is imported by its own name (`dataservice.ledger.redis`).
"""

from dataservice.ledger.base import Fact, Ledger, LedgerAwayError, Look, Mark
from dataservice.ledger.sealed import SealedLedger
from dataservice.ledger.sqlite import SqliteLedger

__all__ = ["Fact", "Ledger", "LedgerAwayError", "Look", "Mark", "SealedLedger", "SqliteLedger"]
