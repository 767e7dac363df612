"""From the LMS's zip file to nbgrader's `submitted/`, by `nbgrader zip_collect`.

`classroom.configure` registers both plugins: `SafeExtractor` unpacks what strangers packed, and
`LmsCollector` tells whose a file is and what it is for.
"""

from classroom.collect.collector import LmsCollector
from classroom.collect.extractor import SafeExtractor

__all__ = ["LmsCollector", "SafeExtractor"]
