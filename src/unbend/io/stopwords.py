"""English words that tell nothing about what a text is about."""

# Words are cut at apostrophes. What is left of *we'll* and *they've* are words of the list; *don't*
# and *won't* are left out whole, since *don* and *won* are words too.
ENGLISH = frozenset(
    """
    about above across after again against all almost along already also although always am among
    an and another any anyone anything are around as at away
    be became because become becomes been before behind being below beside besides between beyond
    both but by can cannot could
    did do does doing done down during each either else enough etc even ever every everyone
    everything except
    few for from further had has have having he hence her here hers herself him himself his how
    however
    if in indeed into is it its itself just least less like
    made make many may me might mine more moreover most mostly much must my myself
    namely neither never nevertheless no nobody none nor not nothing now nowhere
    of off often on once one only onto or other others otherwise our ours ourselves out over own
    per perhaps please quite rather really same seem seemed seems several shall she should since so
    some someone something sometimes somewhere still such
    than that the their theirs them themselves then there therefore these they this those though
    through throughout thus to together too toward towards under unless until up upon us use used
    using
    very via was we well were what whatever when whenever where whereas wherever whether which while
    who whoever whole whom whose why will with within without would yet you your yours yourself
    yourselves
    ll re ve
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't let's mightn't
    mustn't needn't shan't shouldn't wasn't weren't won't wouldn't
    """.split()  # noqa: SIM905
)
