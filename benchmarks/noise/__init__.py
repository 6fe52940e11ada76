"""How well neighbourhood methods survive noise: surfaces with known foot points, and the judge."""
