"""Parts of the demo: rows of embeddings, their table, contact sheet and page."""
