"""The kinds of answers, one file each, which compete for a question."""
