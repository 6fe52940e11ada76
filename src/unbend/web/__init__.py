"""The local page: a server on the loopback address, and what it computes in child processes.

Nothing here computes an embedding: requests become jobs, jobs call the library in a process of
their own, and results are files that the server sends as they are.
"""

NEEDED = ("starlette", "uvicorn")
WITHOUT_EXTRA = (
    "The page needs starlette and uvicorn, which are not installed: run pip install 'unbend[web]'."
)
