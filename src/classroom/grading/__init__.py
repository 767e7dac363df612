"""Grading that cannot be harmed or cheated by what it grades, and does not keep anybody waiting.

The path of a submission:

    exporter    nbgrader's: reads a submission, sanitises and autogrades it; `execute` is the pass
                of it that runs the notebook
    grading     the head: one run of `nbgrader autograde`; only the head writes the gradebook
    trusted     what the course itself says a notebook holds; from it, the `job`
    ahead       starts the jobs of the submissions that follow
    pool        hands jobs to the workers, which a `forkserver` makes; `cluster`, to other machines
    worker      a process that judges, and the sandbox it has to itself
    judge       runs graded cells outside the sandbox, on `handles` of the learner's functions, with
                the visible checks put off (`deferral`), and nothing judged twice (`verdicts`)
    learner     the submission as seen from outside
    confinement a running sandbox as seen from outside; its command line is in `bubblewrap`, its
                filter of system calls in `seccomp`; a `watchdog` holds it to the `limits`
    sandbox/    what runs inside
    once        nbgrader's passes that need not ask the gradebook for every submission
    outputs, flags, record, save, sanitise   what is kept of it, and in which form

`classroom.config` puts it into an nbgrader course. Its settings are those of `grading.Grading`.
What it keeps with a grade, for reports, is described in `record`.
"""
