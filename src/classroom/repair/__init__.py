"""Grades what was meant: answers are carried into the released lesson, whatever became of the file.

    reading   a file as a notebook, however it was saved
    work      which of a student's files holds the work
    released  what the course's own notebook holds
    carry     the answers of a notebook, carried into the released lesson
    mend      the work, carried and with notes: what is graded
    apart     the same in a child, where nothing that a file does stops anybody else's grading
    exporter  has nbgrader read through `apart`
    passes    nbgrader's `SettleDoubts`, after the cells ran
    flags     what a human should look at, in words

The student's files are read and never changed. What is wrong with a notebook is found by
`attention_lab.handin.inspect`, which learners use as well.
"""
