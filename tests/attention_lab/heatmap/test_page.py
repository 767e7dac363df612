import numpy as np

from attention_lab import show_heads
from attention_lab.heatmap import page


def test_same_scene_same_page():
    scene = show_heads(np.eye(3)[None]).scene
    assert page.heatmap_html(scene) == page.heatmap_html(scene)


def test_words_and_picture_stand_outside_the_script():
    html = page.heatmap_html(show_heads(np.eye(2)[None], title="<i>").scene)
    before = html.split("<script>")[0]
    assert "data:image/png;base64," in before
    assert "&lt;i&gt;: 1 head, 2 tokens" in before


def test_assets_travel_without_comments_and_with_all_code():
    script = page._asset("dom.js")
    assert "function make(" in script
    assert not any(line.startswith(("//", " ")) for line in script.splitlines())


def test_only_a_watched_page_has_the_channel():
    scene = show_heads(np.eye(2)[None]).scene
    assert "MutationObserver(soon)" not in page.heatmap_html(scene)
    assert 'listenTo("heads-1")' in page.heatmap_html(scene, channel="heads-1")


def test_string_cannot_close_a_script():
    assert page.string('</script>"') == '"\\u003c/script>\\""'
