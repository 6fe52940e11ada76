"""What the demo is made of: rows of embeddings, their table, contact sheet and page."""
