"""`addin cache`: what is cached and archived on this machine or in Redis."""
