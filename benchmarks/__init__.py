"""Speed, memory and accuracy, ours and the peers', in one run: `python -m benchmarks --help`."""
