"""What is wrong with a file."""


class Damaged(ValueError):
    """The file is not what it should be; the message says how, and `load` adds which file."""
