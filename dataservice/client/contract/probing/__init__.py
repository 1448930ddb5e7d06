"""What the answers of a probe say of a service: what each held, and what each open question turned out to be."""
