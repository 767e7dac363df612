"""What a notebook looks like to the grader: for its learner before handing in, for repair after.

`inspect.inspect` reads a notebook, as plain JSON, against the released lesson and says what is
wrong with it. Two things stand on it: `ready.ready_to_submit`, which tells the learner what to do,
and `classroom.repair`, which mends what it can and needs no notebook's kernel.
"""
