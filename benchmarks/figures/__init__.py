"""What a run measured, for machines and for the pages."""
