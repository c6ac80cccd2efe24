"""Tests of the pages and the API."""
