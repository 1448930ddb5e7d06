"""The name that `dataservice.stores.redis` had in version 0.1."""

from dataservice.stores.redis import RedisStore as RedisStore
