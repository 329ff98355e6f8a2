"""Readers of source formats; ``formats.py`` lists them and ``detect.open_source`` picks one."""
