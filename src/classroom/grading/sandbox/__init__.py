"""What runs inside the sandbox: a host that forks one process a submission.

Imported under a name of its own inside, so everything here imports relatively, and nothing here
imports from the rest of `classroom`.
"""
