"""The Data Service seen from Python: `dataservice.client` asks it, `dataservice.server` is it, embedded."""

__all__: list[str] = []
