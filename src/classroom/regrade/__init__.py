"""Grading a class again, after a corrected test or a new version of the lesson.

    definition  what a gradebook says of an assignment's cells, and how it takes over another
    trial       a grading of everybody that changes nothing: in a gradebook and a folder of its own
    marks       the points of a class, as plain data
    changes     whose points differ between two gradebooks, in which cells, and why
    table       the same as text
    apply       takes over what a trial found; what was there before is kept
    guard       has `nbgrader generate_assignment` refuse before it removes a release

`python -m classroom.regrade` is the command. What a human gave, points and comments, is never
changed. In the folder `regrade/<assignment>/` lie the trial that was shown last and, by the time
it was applied, what stood before.
"""
