"""Laws of the core stages, one file a stage."""
