"""The browser for tests of web pages."""

import shutil

# A headless browser without a graphics processor is twice as fast.
NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
