"""The file formats in which boards are found, one file a format."""
