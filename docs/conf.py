"""Sphinx configuration."""

from pathlib import Path

from unbend import __version__
from unbend.registry import CLASSIFIERS, CLUSTERINGS, METHODS, SEVERAL

project = "unbend"
author = "the unbend developers"
release = __version__
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "fixed_sidebar": True}
myst_heading_anchors = 2
numpydoc_show_class_members = False

# The page of methods follows the registry, so that a new method documents itself.
METHOD_PAGE = """## {title}

```{{eval-rst}}
.. autoclass:: unbend.{name}

   .. automethod:: fit
   .. automethod:: transform
   .. automethod:: inverse_transform
```
"""
CLUSTERING_PAGE = METHOD_PAGE.replace("inverse_transform", "fit_predict")
CLUSTERING_PAGE = CLUSTERING_PAGE.replace("transform", "predict")
pages = [
    METHOD_PAGE.format(title=entry.title, name=entry.class_name) for entry in (*METHODS, *SEVERAL)
]
pages += [CLUSTERING_PAGE.format(title=entry.title, name=entry.class_name) for entry in CLUSTERINGS]
CLASSIFIER_PAGE = CLUSTERING_PAGE.replace("fit_predict", "identify")
pages += [CLASSIFIER_PAGE.format(title=entry.title, name=entry.class_name) for entry in CLASSIFIERS]
generated = Path(__file__).parent / "generated"
generated.mkdir(exist_ok=True)
(generated / "methods.md").write_text("# Methods\n\n" + "\n".join(pages))
