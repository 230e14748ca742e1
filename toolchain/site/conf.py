# SPDX-License-Identifier: MIT
# What sphinx-build is told of the site (toolchain/docs puts its pages together).
import os

project = "ndspi"
version = release = os.environ["NDSPI_VERSION"]
copyright = "the ndspi authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4  # links to headings, named as GitHub names them
suppress_warnings = ["myst.header"]
highlight_language = "none"
smartquotes = False  # an option stays --option
exclude_patterns = ["**/CMakeLists.txt"]

html_theme = "alabaster"
html_theme_options = {
    "description": "NetworkDirect on Linux",
    "page_width": "1200px",
    "sidebar_width": "260px",
    "fixed_sidebar": False,
    "show_powered_by": False,
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = "ndspi " + release
html_copy_source = False
html_show_sourcelink = False
# A page that is read from a file:// address may not read others.
html_show_search_summary = False
html_use_index = True
