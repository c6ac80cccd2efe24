"""The browser for tests of web pages."""

import shutil

# The headless browser is twice as fast.
NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
