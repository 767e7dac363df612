"""nbgrader's extracting plugin, for archives of strangers."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from nbgrader.plugins import ExtractorPlugin

from classroom.collect.archive import free, is_archive, stem, unpack_all
from classroom.course import UnusualCourse, require_usual


class SafeExtractor(ExtractorPlugin):
    """Unpacks what was downloaded, archives in archives included; see `classroom.collect.archive`.

    What cannot be unpacked is said and passed over.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        try:
            require_usual(self.parent.coursedir)
        except UnusualCourse as error:
            self.parent.fail("%s", error)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        downloaded, extracted = Path(archive_path), Path(extracted_path)
        files = sorted(path for path in downloaded.rglob("*") if not path.is_dir())
        if not files:
            self.log.warning("Nothing was downloaded: put the LMS's zip file into %s", downloaded)
        for file in files:
            for complaint in self._take(file, extracted / file.relative_to(downloaded)):
                self.log.warning(complaint)

    def _take(self, file: Path, target: Path) -> Iterator[str]:
        if file.is_symlink() or not file.is_file():
            yield f"{file.name}: left out, it is a link or a device"
        elif is_archive(file):
            self.log.info("Unpacking %s", file)
            folder = free(target.with_name(stem(target.name)))
            yield from unpack_all(file, folder)
            if folder.exists():  # tells when it was downloaded; see `classroom.collect.names`
                os.utime(folder, ns=(file.stat().st_mtime_ns,) * 2)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
