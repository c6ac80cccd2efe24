"""The browser in which tests look at pages."""

import shutil

# The first has no windows, and takes half of the time.
NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
