"""Files for browsers: scripts and styles below the hash of their content, answers that are kept and compressed."""

from addin.web.answers import Endpoint, accepts_gzip, static_answer
from addin.web.assets import Assets, files_in

__all__ = ["Assets", "Endpoint", "accepts_gzip", "files_in", "static_answer"]
