import email
import io
import json
import multiprocessing
import re
import tarfile
import threading
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.config.settings import ImageSettings
from harness.core import process
from harness.core.errors import InfrastructureError
from harness.dataset.folder import write_task
from harness.sandbox import engine, owners
from miner.images import rebuild
from miner.images.cli_choices import Builder
from miner.images.task_image import Order, build_environment
from miner.languages.built import BuiltImage
from miner.layers import base, secrets
from miner.sources.change import Rejection, Stage
from tests import builders, tiny

pytestmark = pytest.mark.engine

PROJECTS = Path(__file__).parent.parent / "projects"
WHEN = datetime(2024, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="session")
def settings(tmp_path_factory):
    chosen = ImageSettings(cache_dir=tmp_path_factory.mktemp("cache"), python_downloads=False)
    try:
        base.resolve(chosen)
    except InfrastructureError:
        base.from_debian()
    return chosen


ATTRIBUTES = {".gitattributes": "*.bat text eol=crlf\n", "run.bat": "echo one\necho two\n"}
"""A file that git would change on its way in or out."""
CANARY = b"lentToABuildOnly"


def found_in(stream, word):
    """Whether a stream holds a word; it is read to its end, a piece at a time."""
    found, last = False, b""
    while chunk := stream.read(1 << 20):
        found = found or word in last + chunk
        last = chunk[-len(word) :]
    return found


class Project:
    """A folder of tests/projects as the builder wants a commit."""

    def __init__(self, name=None, **changes):
        root = PROJECTS / name if name else None
        paths = sorted(path for path in root.rglob("*") if path.is_file()) if root else []
        self.contents = {str(path.relative_to(root)): path.read_bytes() for path in paths if path.suffix != ".pyc"}
        self.contents |= {path: text.encode() for path, text in changes.items()}

    def read(self, path):
        return self.contents.get(path)

    def files(self):
        return tuple(self.contents)

    def tar(self):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for path, data in self.contents.items():
                member = tarfile.TarInfo(path)
                member.size, member.mode = len(data), 0o640
                archive.addfile(member, io.BytesIO(data))
        buffer.seek(0)
        return buffer

    def build(self, settings, log, commit="0" * 40, repo="goldseam-tests/tiny"):
        return build_environment(
            Order(repo=repo, base_commit=commit, when=WHEN, version_hint="1.2"),
            self,
            self.tar,
            settings=settings,
            log=log,
            progress=lambda _: None,
        )


def sh(image, script):
    """What a command prints in a container as the tests run: no network, nobody's user, read-only."""
    argv = ["docker", "run", "--rm", "--network=none", "--read-only", "--tmpfs=/tmp", "--user=65532", image]
    done = process.run([*argv, "sh", "-ec", f"exec 2>&1; {script}"], check=False)
    return done.stdout.decode()


@pytest.fixture(scope="session")
def built(settings, tmp_path_factory):
    image = Project("tiny_src", **ATTRIBUTES).build(settings, tmp_path_factory.mktemp("log") / "build.log")
    assert isinstance(image, BuiltImage), image
    return image


def test_the_tests_of_a_project_pass_in_its_image_without_network_as_nobody(built):
    assert "2 passed" in sh(built.image_id, "python -m pytest -q -p no:cacheprovider")


def test_tests_that_commit_have_somebody_to_commit_as(built):
    commit = "git init -q /tmp/new; cd /tmp/new; git commit -q --allow-empty -m first; git log --format=%ae"
    assert sh(built.image_id, f"{commit} | cat").endswith("goldseam@localhost\n")


def test_the_image_is_named_by_the_engines_digest(built):
    assert built.image_id.startswith("sha256:")


def test_plugins_and_versions_are_recorded(built):
    assert built.pytest_plugins == ("pytest_mock",)
    assert built.pytest.startswith("8.2")
    assert built.python.startswith("3.")


def test_the_extra_for_tests_is_the_rung_and_the_one_for_docs_is_not_asked_for(built):
    assert built.rung == "extra:tests+imports"


def test_the_lock_has_hashes_and_neither_the_project_nor_an_address(built):
    lock = built.locks["requirements.lock"]
    assert "six==1.16.0" in lock
    assert "--hash=sha256:" in lock
    assert not any(word in lock for word in ("tiny", "://", "/testbed"))


def test_the_repository_in_the_image_has_one_commit_and_a_clean_tree(built):
    script = "git log --format='%H %an %s' --all | wc -l; git status --short; git count-objects"
    assert sh(built.image_id, script).splitlines()[:2] == ["1", sh(built.image_id, "git count-objects").strip()]


def test_files_are_byte_for_byte_those_of_the_commit(built):
    assert sh(built.image_id, "sha256sum < run.bat; git cat-file blob HEAD:run.bat | sha256sum").split()[::2] == (
        [sh(built.image_id, "printf 'echo one\\necho two\\n' | sha256sum").split()[0]] * 2
    )


def test_the_pristine_tree_is_the_same_files_without_the_repository(built):
    script = "stat -c %i /testbed/src/tiny/__init__.py /opt/goldseam/src/src/tiny/__init__.py; ls -a /opt/goldseam/src"
    first, second, *names = sh(built.image_id, script).split()
    assert first == second
    assert ".git" not in names


def test_scripts_of_the_project_run(built):
    assert sh(built.image_id, "tiny").strip() == "42"


def test_the_environment_of_the_image_is_fixed(built):
    values = sh(built.image_id, "echo $PYTHONHASHSEED $TZ $LANG; pwd").split()
    assert values == ["0", "UTC", "C.UTF-8", "/testbed"]


def test_byte_code_is_there_already(built):
    script = "find /testbed/src /opt/goldseam/venv/lib/*/site-packages/six.py -name '*.py' | wc -l; "
    script += "find /testbed/src /opt/goldseam/venv/lib/*/site-packages/__pycache__/six.* -name '*.pyc' | wc -l"
    sources, compiled = sh(built.image_id, script).split()
    assert sources == compiled


def test_a_second_commit_with_the_same_lock_builds_only_its_source_layer(built, settings, tmp_path):
    other = Project("tiny_src", **{"src/tiny/more.py": "A = 1\n"}).build(settings, tmp_path / "log", commit="1" * 40)
    assert (other.seconds["base"], other.seconds["deps"]) == (0.0, 0.0)
    assert other.layers[:-1] == built.layers[:-1]
    assert other.image_id != built.image_id


def test_another_repository_with_the_same_lock_stands_on_the_same_dependencies(built, settings, tmp_path):
    other = Project("tiny_src", **{"src/tiny/other.py": "A = 2\n"}).build(
        settings, tmp_path / "log", repo="others/tiny"
    )
    assert other.layers[:-1] == built.layers[:-1]
    assert other.seconds["deps"] == 0.0
    assert other.locks == built.locks


def test_a_second_task_takes_less_than_twice_its_source_tree_on_disk(built, settings, tmp_path):
    code = [path.read_text() for path in sorted(Path(email.__file__).parent.glob("*.py"))]  # as people write it
    files = {f"src/tiny/part{part}.py": text for part, text in enumerate(code)}
    files |= {f"tests/test_part{part}.py": text for part, text in enumerate(code)}
    project = Project("tiny_src", **files)
    other = project.build(settings, tmp_path / "log", commit="2" * 40)
    tree = sum(map(len, project.contents.values()))
    assert other.seconds["deps"] == 0.0
    assert tree < other.layer_bytes["task"] < 2 * tree
    assert sh(other.image_id, "find .git -type f | wc -l; ls .git/objects/??/ 2>/dev/null || true").strip() < "20"


def test_processes_that_need_the_same_layer_build_it_once(built, settings, tmp_path):
    word, context = f"once-{uuid.uuid4().hex}", multiprocessing.get_context("spawn")
    cache = builders.cache(settings, tmp_path / "log")
    parts = [(tmp_path / name, context.Event()) for name in ("one", "two")]
    running = []
    for folder, asked in parts:
        folder.mkdir()
        running.append(context.Process(target=builders.one, args=(settings, built.layers[0], word, folder, asked)))
        running[-1].start()
    assert all(asked.wait(240) for _, asked in parts)
    (cache / f"{word}.go").touch()
    for process_ in running:
        process_.join(240)
    try:
        assert len({(folder / "image").read_text() for folder, _ in parts}) == 1
        assert (cache / word).read_text() == "built\n"
    finally:
        process.run(["docker", "rmi", builders.layer(built.layers[0], word).tag])


def test_the_same_commit_gives_the_same_image(built, settings, tmp_path):
    assert Project("tiny_src", **ATTRIBUTES).build(settings, tmp_path / "log").image_id == built.image_id


def test_threads_that_need_the_same_layer_build_it_once(settings, tmp_path):
    images = []
    project = Project("tiny_src", **{"src/tiny/threads.py": f"A = '{uuid.uuid4()}'\n"})
    threads = [
        threading.Thread(target=lambda n=n: images.append(project.build(settings, tmp_path / f"log{n}")))
        for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(image.seconds["task"] == 0 for image in images) == [False, True]
    assert len({image.image_id for image in images}) == 1


def test_a_tree_that_cannot_be_installed_is_put_on_the_path(settings, tmp_path):
    image = Project("tiny_flat").build(settings, tmp_path / "log")
    assert image.pythonpath == (".",)
    assert "1 passed" in sh(image.image_id, "python -m pytest -q -p no:cacheprovider")
    assert "six==" in image.locks["requirements.lock"]


def test_a_backend_without_editable_installs_still_imports_from_the_tree(settings, tmp_path):
    backend = "from setuptools.build_meta import build_wheel, get_requires_for_build_wheel\n"
    pyproject = (PROJECTS / "tiny_src" / "pyproject.toml").read_text()
    pyproject = pyproject.replace('"setuptools.build_meta"', '"backend"\nbackend-path = ["."]')
    image = Project("tiny_src", **{"pyproject.toml": pyproject, "backend.py": backend}).build(
        settings, tmp_path / "log"
    )
    assert isinstance(image, BuiltImage), image
    assert "2 passed" in sh(image.image_id, "python -m pytest -q -p no:cacheprovider")
    assert sh(image.image_id, "tiny").strip() == "42"


def kept_for_builds(settings):
    """The environments with build requirements that are kept for the next commit."""
    return sorted(path.parent.name for path in settings.cache_dir.glob("uv/*/goldseam-builds/*/whole"))


def test_an_editable_install_says_where_it_is_from_and_not_when(built):
    told = sh(
        built.image_id,
        "cd /opt/goldseam/venv/lib/python*/site-packages/tiny_src-*.dist-info; cat direct_url.json RECORD; ls",
    )
    assert told.startswith('{"url":"file:///testbed","dir_info":{"editable":true}}')
    assert "uv_cache" not in told


def test_build_requirements_are_kept_for_the_next_commit_but_not_what_a_build_wrote_into(settings, tmp_path):
    def build(name, **files):
        assert isinstance(Project("tiny_src", **files).build(settings, tmp_path / name), BuiltImage)
        return kept_for_builds(settings)

    new = f"# {uuid.uuid4()}\n"  # an engine that has the layer from an earlier run would build nothing
    writes = "import setuptools, pathlib\npathlib.Path(setuptools.__file__).with_name('mine.txt').write_text('x')\n"
    before = build("log0", **{"src/tiny/a.py": new})
    assert before
    assert build("log1", **{"setup.py": f"{new}{writes}setuptools.setup()\n"}) == before
    assert len(build("log2", **{"src/tiny/b.py": new})) > len(before)


def test_requirements_that_do_not_exist_are_the_repositorys_fault(settings, tmp_path):
    pyproject = "[project]\nname = 'x'\nversion = '1'\ndependencies = ['no-such-package-as-this-one-here']\n"
    found = Project(**{"pyproject.toml": pyproject}).build(settings, tmp_path / "log")
    assert isinstance(found, Rejection)
    assert (found.stage, found.reason) == (Stage.ENVIRONMENT, "unresolvable")
    assert "no-such-package" in (tmp_path / "log").read_text()


def test_a_rung_that_fails_gives_way_to_the_next(settings, tmp_path):
    extra = "no-such-package-as-this-one-here\n"
    image = Project("tiny_flat", **{"requirements-test.txt": extra}).build(settings, tmp_path / "log")
    assert isinstance(image, BuiltImage), image
    assert [attempt.ok for attempt in image.attempts] == [False, True, True, True]


def test_an_impossible_python_is_refused_with_what_is_at_hand(settings, tmp_path):
    pyproject = "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.99'\n"
    found = Project(**{"pyproject.toml": pyproject}).build(settings, tmp_path / "log")
    assert (found.stage, found.reason) == (Stage.ENVIRONMENT, "no_interpreter")
    assert ">=3.99" in found.detail


def test_a_build_that_never_ends_is_cut_off(settings, tmp_path):
    hasty = settings.model_copy(update={"build_seconds": 4.0})
    project = Project(**{"setup.py": "import time\ntime.sleep(600)\n"})
    found = project.build(hasty, tmp_path / "log")
    assert found.reason == "build_timeout"


def test_an_index_that_does_not_answer_is_no_fault_of_the_repository(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://me:canary-password@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(InfrastructureError, match="package index") as caught:
        Project("tiny_src", **{"x.py": ""}).build(settings, tmp_path / "log")
    assert "canary-password" not in caught.value.message + (tmp_path / "log").read_text()


def test_what_a_build_borrows_is_in_no_layer_no_configuration_and_no_record(settings, tmp_path, monkeypatch, request):
    bundle = secrets.collect().ca_bundle
    lent = tmp_path / "bundle.pem"
    lent.write_bytes((bundle.read_bytes() if bundle else b"") + b"\n# " + CANARY + b"\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(lent))
    monkeypatch.setenv("UV_INDEX_OURS_PASSWORD", CANARY.decode())
    monkeypatch.setenv("NO_PROXY", f"{CANARY.decode()}.invalid")
    (tmp_path / "config.json").write_text(json.dumps({"proxies": {"default": {"noProxy": CANARY.decode()}}}))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    engine.disconnect()  # a client reads that once
    request.addfinalizer(engine.disconnect)
    project = Project(
        "tiny_src", **{"src/tiny/secrets.py": f"A = '{uuid.uuid4()}'\n", "requirements-test.txt": "attrs"}
    )
    image = project.build(settings, tmp_path / "log")
    assert isinstance(image, BuiltImage), image
    details = process.run(["docker", "image", "inspect", image.image_id]).stdout
    history = process.run(["docker", "history", "--no-trunc", image.image_id]).stdout
    record = image.dockerfile + json.dumps(image.locks) + (tmp_path / "log").read_text()
    for text in (details, history, record.encode()):
        assert CANARY not in text
    with process.stream(["docker", "image", "save", image.image_id]) as archive:
        assert not found_in(archive, CANARY)
    assert sh(image.image_id, "ls -A /run/goldseam || true").count("No such file") == 1


@pytest.fixture
def mined(built, tmp_path):
    """A dataset with one task, as a mine leaves it."""
    made = tiny.dataset(tmp_path / "dataset")
    write_task(made, tiny.task(built.image_id), public_files={"Dockerfile": built.dockerfile, **built.locks})
    return made


@pytest.mark.skipif(rebuild.buildkit_client() is None, reason="no BuildKit here")
def test_an_image_is_built_again_from_its_tasks_folder_and_is_the_same(mined, settings, tmp_path):
    before = rebuilt_images()
    found = rebuild.rebuild(
        mined, "tiny__calc-1", settings=settings, builder=Builder.BUILDKIT, log=tmp_path / "log", note=lambda _: None
    )
    assert found.differing == {}
    assert (found.builder, found.layers) == (Builder.BUILDKIT, ("deps", "task"))
    assert not rebuilt_images() - before


def rebuilt_images() -> set[str]:
    """Those of this process: other tests build some meanwhile."""
    images = engine.connect().images(filters={"label": rebuild.LABEL})
    return {image["Id"] for image in images if image["Labels"][rebuild.LABEL].startswith(f"{owners.owner()}~")}


def test_what_a_killed_rebuild_left_goes_at_the_next_one(built, settings, tmp_path):
    host, pid, start = owners.owner().split(":")
    for owner in (f"{host}:4194999:1", f"{host}:{pid}:{start}"):
        container = process.run(["docker", "create", built.image_id]).stdout.decode().strip()
        label = f"LABEL {rebuild.LABEL}={owner}~1"
        process.run(["docker", "commit", "-c", label, container, f"goldseam/rebuilt:{owner.split(':')[1]}"])
        engine.remove_container(container)
    empty = tiny.dataset(tmp_path / "empty").path
    try:
        done = tiny.goldseam("images", "rebuild", empty, env={"GOLDSEAM_CACHE_DIR": str(settings.cache_dir)})
        assert done.returncode == 0, done.error_text
        assert engine.image_id("goldseam/rebuilt:4194999") is None
        assert engine.image_id(f"goldseam/rebuilt:{pid}")
    finally:
        process.run(["docker", "rmi", f"goldseam/rebuilt:{pid}"])


def test_what_differs_from_the_folder_is_named_and_the_answer_is_no(mined, settings):
    file = mined.task_folder("tiny__calc-1") / "Dockerfile"
    file.write_text(file.read_text().replace('ENV TZ="UTC"', 'ENV TZ="Asia/Tokyo"'))
    lock = file.parent / "requirements.lock"
    locked = re.split(r"^(?=\S)", lock.read_text(), flags=re.MULTILINE)
    lock.write_text("".join(one for one in locked if not one.startswith("six==")))
    done = tiny.goldseam(
        "images", "rebuild", mined.path, "--builder", "plain", "--json",
        env={"GOLDSEAM_CACHE_DIR": str(settings.cache_dir)},
    )  # fmt: skip
    assert done.returncode == 1, done
    (told,) = json.loads(done.stdout)["rebuilt"]
    assert told["differing"]["(configuration) TZ"] == "content"
    assert next(path for path in told["differing"] if path.endswith("/six.py")) in told["differing"]
    assert not [path for path in told["differing"] if path.startswith("testbed/")]
    others = {path.partition("site-packages/")[2] or path for path in told["differing"]}
    assert not [path for path in others if "six" not in path and path != "(configuration) TZ"]


def test_containers_of_dead_processes_are_swept_and_those_of_the_living_stay(built):
    host = owners.owner().split(":")[0]
    made = [
        process.run(["docker", "create", "--label", f"{engine.LABEL_OWNER}={label}", built.image_id])
        .stdout.decode()
        .strip()
        for label in (f"{host}:4194999:1", owners.owner())
    ]
    try:
        owners.sweep()
        left = process.run(["docker", "ps", "-aq", "--no-trunc"]).stdout.decode().split()
        assert [one in left for one in made] == [False, True]
    finally:
        for one in made:
            engine.remove_container(one)


def test_a_run_of_an_image_is_not_taken_for_a_left_over_build(built):
    facts = engine.inspect_image(built.image_id)
    assert facts is not None
    assert not owners.is_dead(facts.labels[engine.LABEL_OWNER])
