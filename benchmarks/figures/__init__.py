"""Measuring, backends to measure, and what a run measured: for machines and for the pages."""
