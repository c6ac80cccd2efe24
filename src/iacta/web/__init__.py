"""Web: the page and its API, which answer every question in a browser."""

from iacta.web.app import create_app

__all__ = ["create_app"]
