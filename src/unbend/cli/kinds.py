"""What data are: told by the options, or by the file."""

from collections import Counter
from pathlib import Path

from unbend.cli.data import Data
from unbend.cli.tables import PIPE, source

TEXTS = (".txt", ".text", ".md", ".rst", ".tex")


def kind_of(name: str, data: Data, usual: str | None = None) -> str:
    """Tell what data are: by the options, by the file, or as usual."""
    if data.kind is not None:
        return data.kind
    if data.text_column is not None:
        return "texts"
    found = _kind_of_folder(name) if Path(name).is_dir() else _kind_of_file(name)
    if found is None and usual is None and Path(name).is_dir():
        raise ValueError(
            f"the folder {name} holds neither images nor files that end in {', '.join(TEXTS)}: say "
            "--as texts, or take --method replicated_mds or weighted_mds for matrices"
        )
    return found or usual or "table"


def _kind_of_folder(name: str) -> str | None:
    """Tell by what most of the files are: one picture among texts is no folder of images."""
    from unbend.io.folders import below
    from unbend.io.pictures import SUFFIXES

    endings = Counter(path.suffix.lower() for path in below(Path(name), None))
    if not endings:
        raise ValueError(f"the folder {name} holds no files")
    images, texts = (sum(endings[suffix] for suffix in known) for known in (SUFFIXES, TEXTS))
    if not images and not texts:
        return None
    return "images" if images >= texts else "texts"


def _kind_of_file(name: str) -> str | None:
    from unbend.io.envi import envi_files, is_envi_header
    from unbend.io.files import file_of
    from unbend.io.idx import is_idx

    path = Path(name)
    if name != PIPE and not path.is_file():
        # What is no file, as a pipe by name, gives its bytes only once.
        return None
    with file_of(source(name)).open() as stream:
        head = stream.read(9)
    if head == b"SIMPLE  =":
        return "cube"
    if is_idx(head):
        return "images"
    try:
        return "cube" if name != PIPE and is_envi_header(envi_files(path)[0]) else None
    except (ValueError, FileNotFoundError):
        return "cube" if is_envi_header(path) else None


def files_read(name: str, data: Data) -> list[str]:
    """Return the files behind a name, which a result must not replace: of ENVI cubes two."""
    from unbend.io.envi import envi_files

    if data.envi_data is not None:
        return [name, data.envi_data]
    try:
        both = envi_files(Path(name)) if Path(name).is_file() else ()
    except (ValueError, FileNotFoundError):
        both = ()
    return [name, *map(str, both)]
