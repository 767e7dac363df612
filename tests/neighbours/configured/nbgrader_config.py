"""What an administrator would put beside Jupyter's settings; a course's own come after it."""

from classroom import configure

configure(get_config())  # noqa: F821 (nbgrader provides it)
