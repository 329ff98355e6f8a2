"""Fuzz targets: one file for each reader of data from outside, with a corpus; README.md describes how to run them."""
