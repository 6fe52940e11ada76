"""Pictures of clustered data: neighbour embedding against openTSNE, UMAP and PaCMAP."""
