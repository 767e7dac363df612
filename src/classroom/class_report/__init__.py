"""The class as its teacher wants to see it on Monday: `python -m classroom.class_report mha`.

One HTML page that fetches nothing: which misconceptions were met where and how often, how the
points are distributed, what needs a human, and which submissions resemble each other. It names
nobody unless asked to.
"""
