"""Python that does what a command did."""

from unbend.cli.tables import Columns


def python_of(kind: str, name: str, columns: Columns) -> str:
    """Return the Python that reads the same data."""
    data = columns.data
    words = {"none": "None", "english": "'english'", None: "None"}
    stop_words = words.get(data.stop_words, f"open({data.stop_words!r}).read().split()")
    keywords = {
        "color": None if data.color is None else repr(data.color),
        "invert": None if data.invert is None else repr(data.invert),
        "size": data.height_and_width and repr(data.height_and_width),
        "array": data.array and repr(data.array),
        "column": data.text_column and repr(data.text_column),
        "label": data.text_column and columns.label and repr(columns.label),
        "id": data.text_column and columns.id and repr(columns.id),
        "weight": data.term_weight and repr(data.term_weight),
        "stop_words": data.stop_words and stop_words,
        "stem": "True" if data.stem else None,
        "unit": "False" if data.no_unit else None,
        "encoding": data.encoding and repr(data.encoding),
        "separator": data.mark and repr(data.mark),
        "data": data.envi_data and repr(data.envi_data),
        "part": None if data.fits_part is None else repr(data.fits_part),
    }
    given = "".join(f", {word}={value}" for word, value in keywords.items() if value)
    tail = {"images": ".table", "texts": "", "cube": ".bands()" if data.bands else ".pixels()"}
    return f"unbend.io.read_{kind}({name!r}{given}){tail[kind]}"
