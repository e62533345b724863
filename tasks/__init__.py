"""One thin Prefect task a stage."""
