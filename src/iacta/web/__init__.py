"""Web: the page and its API, on which every question is asked in a browser."""

from iacta.web.app import create_app

__all__ = ["create_app"]
