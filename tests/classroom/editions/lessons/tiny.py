# ---
# jupyter:
#   assignment: ps1
# ---

# %% [markdown] id="title"
# # Doubling
#
# ![A bar beside one twice as long](bars.svg)
# *A bar and its double.*

# %% id="setup" tags=["setup"]
# %matplotlib inline
from attention_lab import NotWrittenYet  # noqa: F401

# %% [markdown] id="double-exercise"
# ## Your turn


# %% grade_id="double" solution=true
def double(number):
    """Twice the number."""
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION


# %% id="look-at-double"
double(1)

# %% grade_id="test_double_value" points=2
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(-3) == -6
### END HIDDEN TESTS

# %% [markdown] id="halve-exercise"
# ## And back
#
# <details><summary>Hint 1</summary>
#
# Half.
#
# <details><summary>Hint 2</summary>
#
# A method of 0.5.
#
# <details><summary>Hint 3</summary>
#
# `(0.5).__…__`
#
# </details></details></details>

# %% grade_id="halve" solution=true
### BEGIN SOLUTION
halve = (0.5).__mul__
### END SOLUTION

# %% grade_id="test_halve" points=1
assert halve(2) == 1

# %% grade_id="third" solution=true
### BEGIN SOLUTION
third = 1 / 3
### END SOLUTION

# %% id="check-third"
assert 3 * third == 1

# %% id="look-at-third"
print(third)
