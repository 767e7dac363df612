import os


def test_archives_are_unpacked_and_files_copied(course, download, collect):
    archive = download({"doejane_11_901_small.ipynb": "1"}).parent
    (archive / "monday").mkdir()
    (archive / "monday" / "roejohn_12_902_small.ipynb").write_text("2")
    _, files = collect()
    assert files == {"11/small/small.ipynb": "1", "12/small/small.ipynb": "2"}
    extracted = course.root / "downloaded" / "small" / "extracted"
    assert (extracted / "submissions" / "doejane_11_901_small.ipynb").exists()


def test_links_among_the_downloads_are_left_out(course, download, collect):
    archive = download({"doejane_11_901_small.ipynb": "1"}).parent
    (archive / "roejohn_12_902_small.ipynb").symlink_to(course.root / "nbgrader_config.py")
    os.mkfifo(archive / "roejohn_12_903_small.ipynb")
    said, files = collect()
    assert set(files) == {"11/small/small.ipynb"}
    assert said.count("left out, it is a link or a device") == 2


def test_nothing_downloaded_says_where_to_put_it(course, collect):
    (course.root / "downloaded" / "small" / "archive").mkdir(parents=True)
    said, files = collect()
    assert files == {}
    assert "put the LMS's zip file into" in said


def test_bad_archive_stops_nobody(download, collect):
    download({"doejane_11_901_small.ipynb": "1", "../../up": "2"})
    download({}, "broken.zip").write_bytes(b"PK")
    said, files = collect()
    assert files == {"11/small/small.ipynb": "1"}
    assert "broken.zip: it is damaged" in said
    assert "left out '../../up'" in said
