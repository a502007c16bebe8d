"""A store from Python: bytes, names, refusals, and that it travels to other processes and threads."""

import multiprocessing
import os
import pickle
import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from somatize import Store
from somatize.errors import (
    BlobNotFoundError,
    CorruptError,
    DigestError,
    NameNotFoundError,
    StoreError,
    StoreNotFoundError,
)


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    return Store(tmp_path / "store" if request.param == "folder" else "memory://")


def test_bytes_come_back_by_their_digest(store):
    digest = store.put(b"weights")
    assert digest == sha256(b"weights").hexdigest()
    assert store.put(bytearray(b"weights")) == digest
    assert store.contains(digest)
    assert store.get(digest) == b"weights"
    assert not store.contains(sha256(b"other").hexdigest())


def test_a_name_stands_for_a_digest_with_words_beside_it(store):
    one, two = store.put(b"1"), store.put(b"2")
    store.bind("best/of: all*?", one)
    assert store.resolve("best/of: all*?") == one
    assert store.metadata("best/of: all*?") == {}
    store.bind("best/of: all*?", two, {"score": "0.5"})
    assert store.resolve("best/of: all*?") == two
    assert store.metadata("best/of: all*?") == {"score": "0.5"}
    store.bind("..", one)
    assert store.names() == ["..", "best/of: all*?"]
    assert store.names("best") == ["best/of: all*?"]


def test_a_name_is_claimed_once(store):
    digest = store.put(b"me")
    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(lambda _: store.claim("leader", digest), range(64)))
    assert sum(heard) == 1


def test_what_is_not_there_is_a_lookup_error_and_a_store_error(store):
    digest = sha256(b"nothing").hexdigest()
    for call, error in (
        (lambda: store.get(digest), BlobNotFoundError),
        (lambda: store.bind("x", digest), BlobNotFoundError),
        (lambda: store.resolve("nothing"), NameNotFoundError),
        (lambda: store.metadata("nothing"), NameNotFoundError),
    ):
        with pytest.raises(error) as caught:
            call()
        assert isinstance(caught.value, StoreError)
        assert isinstance(caught.value, LookupError)
    with pytest.raises(BlobNotFoundError, match=digest):
        store.get(digest)
    store.bind("widths/best", store.put(b"1"))
    with pytest.raises(NameNotFoundError, match="`width/best`") as caught:
        store.resolve("width/best")
    assert caught.value.hint == "did you mean `widths/best`?"


def test_a_name_like_no_other_hears_the_store_and_what_there_is(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(NameNotFoundError) as caught:
        store.resolve("zz")
    assert caught.value.text == f"there is no name `zz` in the store `{store.location}`"
    assert caught.value.hint == "it has no names: `store.bind`, or `somatize.torch.keep`, gives one"
    for name in ("widths/best", "widths/latest"):
        store.bind(name, store.put(b"1"))
    with pytest.raises(NameNotFoundError) as caught:
        store.metadata("zz")
    assert caught.value.hint == "it has `widths/best`, `widths/latest`; `store.names()` lists them all"


def test_text_that_is_no_digest_is_refused(store):
    with pytest.raises(DigestError, match="`abc` is not a digest, expected 64 hexadecimal digits") as caught:
        store.get("abc")
    assert isinstance(caught.value, ValueError)


def test_damaged_bytes_are_told_from_missing_ones(tmp_path):
    store = Store(tmp_path)
    digest = store.put(b"weights")
    (blob,) = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes() == b"weights"]
    blob.chmod(0o644)
    blob.write_bytes(b"weighty")
    with pytest.raises(CorruptError, match=digest) as caught:
        store.get(digest)
    assert caught.value.hint is not None
    assert str(caught.value).splitlines()[-1] == f"hint: {caught.value.hint}"


def test_opening_for_reading_creates_nothing_and_says_what_is_missing(tmp_path):
    with pytest.raises(StoreNotFoundError, match="there is no store at") as caught:
        Store(tmp_path / "typo", read_only=True)
    assert isinstance(caught.value, LookupError)
    assert caught.value.hint.startswith("check the path")
    assert list(tmp_path.iterdir()) == []


def test_a_store_opened_for_reading_refuses_to_write(tmp_path):
    Store(tmp_path).put(b"1")
    store = Store(tmp_path, read_only=True)
    with pytest.raises(StoreError, match="opened for reading"):
        store.put(b"2")


def test_storage_that_is_not_in_this_build_is_a_clear_error():
    with pytest.raises(StoreError, match="s3"):
        Store("s3://bucket/prefix")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_what_the_operating_system_refuses_stays_its_error(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(PermissionError):
        Store(tmp_path / "store").put(b"1")
    tmp_path.chmod(stat.S_IRWXU)


def test_a_folder_under_a_file_stays_the_operating_systems_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(NotADirectoryError) as caught:
        Store(tmp_path / "file" / "store").put(b"1")
    assert str(tmp_path) in str(caught.value)
    assert not isinstance(caught.value, StoreError)


@pytest.mark.parametrize("lease", [0, -1, float("nan"), float("inf")])
def test_a_lease_is_seconds_above_zero(tmp_path, lease):
    with pytest.raises(ValueError, match="`lease` was given"):
        Store(tmp_path, lease=lease)


def test_a_store_prints_where_it_is_and_how_it_was_opened(tmp_path):
    assert repr(Store(str(tmp_path))) == f"Store({str(tmp_path)!r})"
    store = Store(tmp_path, durable=False, lease=2.5)
    assert repr(store) == f"Store({str(tmp_path)!r}, durable=False, lease=2.5)"
    assert (store.location, store.durable, store.read_only, store.lease) == (str(tmp_path), False, False, 2.5)


def test_a_store_pickles_as_where_it_is(tmp_path):
    store = Store(tmp_path, durable=False, lease=3)
    digest = store.put(b"1")
    other = pickle.loads(pickle.dumps(store))
    assert other.get(digest) == b"1"
    assert (other.location, other.durable, other.lease) == (store.location, False, 3.0)


def test_a_store_in_memory_does_not_pickle():
    with pytest.raises(StoreError, match="memory://") as caught:
        pickle.dumps(Store("memory://"))
    assert caught.value.hint == "use a folder, which other processes can open"


def _put(store, data):
    return store.put(data)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_other_processes_see_what_was_put(tmp_path, start):
    store = Store(Path(tmp_path))
    store.put(b"before")
    with multiprocessing.get_context(start).Pool(2) as pool:
        digests = pool.starmap(_put, [(store, bytes([k])) for k in range(8)])
    assert [store.get(digest) for digest in digests] == [bytes([k]) for k in range(8)]
