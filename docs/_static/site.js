// Browsers refuse to fetch pages opened from file, so search shows titles there and no excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
