"""The site: its pages, and what is made from the code: references, sessions and pictures."""
