"""The claims of iacta, mirrored file by file, and the literature that they are held against."""
