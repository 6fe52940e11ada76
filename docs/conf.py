"""Sphinx configuration."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Pages of the gallery share data with the scripts in examples/.
sys.path.insert(0, str(HERE.parent / "examples"))

from figures import draw_unbuilt, scrape_figures  # noqa: E402

from unbend import __version__  # noqa: E402

project = "unbend"
author = "the unbend developers"
copyright = "the unbend developers, BSD-3-Clause"
release = __version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "method_pages",
    "api_pages",
    "site_pages",
    "trouble_pictures",
    "interactive",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/sg_*"]
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "unbend"
(HERE / "generated" / "static").mkdir(parents=True, exist_ok=True)
html_static_path = ["_static", "generated/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
# Pages without sections of their own have nothing to show beside them.
html_sidebars = {name: [] for name in ("index", "cli", "benchmarks", "changelog", "search")}

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The short examples run in every build; `make gallery-full` sets the variable and runs all.
FULL = os.environ.get("UNBEND_GALLERY") == "full"
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/(short|long)_" if FULL else r"/short_",
    "ignore_pattern": r"__init__\.py",
    "image_scrapers": (scrape_figures,),
    "show_memory": False,
    "show_signature": False,
    # Its tables load scripts from elsewhere.
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "min_reported_time": 5,
    "default_thumb_file": draw_unbuilt(HERE / "generated" / "long_example.png"),
}
