"""Where answers are kept: in the process, on the user's shelf, or in a Redis that machines share.

`RedisStore` needs the extra `redis` and is imported by its own name: `from dataservice.cache.redis import RedisStore`.
"""

from dataservice.cache.guarded import Guarded
from dataservice.cache.memory import MemoryStore
from dataservice.cache.shelf import Shelf, default_shelf_path
from dataservice.cache.store import Entry, Store

__all__ = ["Entry", "Guarded", "MemoryStore", "Shelf", "Store", "default_shelf_path"]
