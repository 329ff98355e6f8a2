"""Whether a difference between two arms over the same questions is real.

Everywhere ``first`` is the baseline, ``second`` is the arm under test, and a difference is ``second - first``. Every
random draw comes from the caller's seed, so the same seed gives the same bytes.

Questions that share a cluster (one article, one template) are not independent. ``clusters`` holds one hashable key per
question. With clusters, the methods resample and sign-flip whole clusters.
"""
