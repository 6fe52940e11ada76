"""Reference pages: every public name once, from `__all__` of each module."""

import inspect
from importlib import import_module
from typing import Any

from method_pages import DOCS, entries, write_if_changed
from sphinx.application import Sphinx

import unbend

OUTPUT = DOCS / "generated" / "api"
MODULES = ["unbend", *(f"unbend.{name}" for name in sorted(unbend._MODULES)), "unbend.sklearn"]


def directive(path: str, value: Any) -> str:
    """Return the directive that documents an object."""
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        members = [
            name
            for name, _ in inspect.getmembers(value, inspect.isfunction)
            if name in vars(value) and name[0] != "_" and not name.endswith("_request")
        ]
        own = f"\n   :members: {', '.join(members)}" if members and kind == "class" else ""
        return f".. auto{kind}:: {path}{own}\n"
    if callable(value):
        return f".. autofunction:: {path}\n"
    return f".. autodata:: {path}\n   :no-value:\n"


def page(module_name: str, documented: dict[int, str]) -> str:
    """Return the page of a module; names that stand on an earlier page are only listed."""
    module = import_module(module_name)
    names = [
        name
        for name in module.__all__
        if name not in unbend._MODULES
        and name[0] != "_"
        # Classes of scikit-learn that unbend.sklearn passes on are documented there.
        and not getattr(getattr(module, name), "__module__", "").startswith("sklearn")
    ]
    listed, blocks = [], []
    for name in names:
        value = getattr(module, name)
        path = f"{module_name}.{name}"
        if id(value) not in documented:
            documented[id(value)] = path
            blocks.append(directive(path, value))
        where = documented[id(value)]
        # Sphinx wants names of the page's own module without it.
        listed.append(f"   {name if where == path else f'~{where}'}")
    lines = [
        f"# {module_name}\n",
        "```{eval-rst}",
        f".. automodule:: {module_name}\n   :no-members:\n",
    ]
    lines += [".. autosummary::\n", *listed, "", *blocks, "```\n"]
    return "\n".join(lines)


def write_pages(app: Sphinx | None = None) -> None:
    """Write a page a module, and the list of modules."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    documented = {id(e.load()): f"unbend.{e.class_name}" for e in entries().values()}
    for module_name in MODULES:
        write_if_changed(OUTPUT / f"{module_name}.md", page(module_name, documented))
    write_if_changed(OUTPUT / "index.md", index())


def index() -> str:
    """Return the list of modules, each with the first line of its docstring."""
    lines = ["# API reference\n", "The names in `__all__` of these modules are public.\n"]
    lines += ["| module | |", "|---|---|"]
    for name in MODULES:
        about = (import_module(name).__doc__ or "").strip().split("\n")[0]
        lines.append(f"| [`{name}`]({name}.md) | {about} |")
    return "\n".join([*lines, "\n```{toctree}\n:hidden:\n", *MODULES, "```\n"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx reads its sources."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
