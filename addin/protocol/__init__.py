"""The protocol that every host speaks: batches of calls in, encoded answers out."""
