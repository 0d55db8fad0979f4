"""Services as values: in task.yaml, in a task's digest, in networks, in the settings, and when a proof has them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.checks.dataset import CheckScope, ImageCheck, check
from harness.config import doctor
from harness.config.settings import load_settings
from harness.core.errors import InputError
from harness.core.instance import Service, TestSpec, TestStatus
from harness.dataset.folder import open_dataset
from harness.interop.base import Exported, image_notes
from harness.sandbox.images.service_image import ServiceImage
from harness.sandbox.job import Job, ServiceError
from harness.sandbox.pod import opened, plan
from miner.evidence.ci import CiTests
from miner.evidence.ci_services import DeclaredService
from miner.images.service_images import Unavailable, mapped
from miner.proof import Notebook, Subject
from miner.proof import services as beside
from miner.proof.proof_at_fix_date import Settled
from miner.proof.subject import rejection
from tests import tiny
from tests.unit.test_proof_frozen import SUBJECT, proof, saw

DB = Service(name="db", image=tiny.NO_IMAGE, ports=("5433:5432",))
CACHE = Service(name="cache", image=tiny.NO_IMAGE, hosts=("store",), ports=("6379:6379",))
FOUND = ServiceImage(name="db@sha256:" + "1" * 64, ports=(5432, 9000), health="ready", folders=("/tmp", "/data"))


def with_services(*services):
    return tiny.task(spec=TestSpec(services=services))


def test_services_survive_the_way_to_disk_and_back(tmp_path):
    folders = ("/data:999:999:0750", "/tmp")
    whole = replace(CACHE, env={"A": "b"}, command=("run",), health="ask", folders=folders, read_only=False)
    dataset = tiny.dataset(tmp_path / "dataset", with_services(DB, whole))

    assert open_dataset(dataset.path).task("tiny__calc-1").instance.test.services == (DB, whole)


def test_a_task_without_services_says_nothing_of_them_and_keeps_its_digest(tmp_path):
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task())

    assert "services" not in (dataset.path / "tasks/tiny__calc-1/task.yaml").read_text()
    assert with_services(DB).digest() != tiny.task().digest() == with_services().digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("5433:5432", "5433:99999"),
        ("5433:5432", "one:two"),
        ("5433:5432", "6379:5432"),
        ("name: db", "name: cache"),
        ("name: db", "name: a b"),
        (f"image: {tiny.NO_IMAGE}\n    hosts: []", "image: postgres:13\n    hosts: []"),
    ],
)
def test_services_that_can_not_be_are_refused_by_name(tmp_path, old, new):
    dataset = tiny.dataset(tmp_path / "dataset", with_services(DB, CACHE))
    file = dataset.path / "tasks/tiny__calc-1/task.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))

    with pytest.raises(InputError, match=r"services|test"):
        open_dataset(dataset.path).task("tiny__calc-1")


def test_services_share_the_network_of_the_tests():
    (cell,) = plan((DB, CACHE)).cells

    assert cell.services == (DB, CACHE)
    assert cell.carry == ((("127.0.0.1", 5433), ("127.0.0.1", 5432)),)
    assert plan((DB, CACHE)).hosts.splitlines()[-1] == "127.0.0.1\tcache store"


def test_services_with_the_same_port_have_networks_of_their_own():
    other = replace(DB, name="other", ports=("5432:5432",))
    found = plan((DB, other, CACHE))

    assert [[one.name for one in cell.services] for cell in found.cells] == [["cache"], ["db"], ["other"]]
    names = dict(reversed(line.split("\t")) for line in found.hosts.splitlines())
    assert (names["db"], names["other"], names["cache store"]) == ("127.0.1.1", "127.0.1.2", "127.0.0.1")
    listens = [near for near, _ in found.cells[0].carry]
    assert set(listens) == {("127.0.0.1", 5433), ("127.0.0.1", 5432), ("127.0.1.1", 5432), ("127.0.1.2", 5432)}


def test_a_runtime_that_shares_no_network_is_named():
    class Elsewhere:
        runtime = "runsc"

    with pytest.raises(ServiceError, match="the runtime runsc can't share"), opened(Elsewhere(), "x", "y", (DB,)):
        pass


def test_services_count_in_what_a_job_needs():
    job = Job(image="x", argv=(), stdin=b"", budgets=tiny.task().instance.budgets, services=(DB, CACHE))

    assert job.memory_mb == job.budgets.memory_mb + 2048


@pytest.mark.parametrize(
    ("image", "settings", "name"),
    [
        ("postgres:13", True, "postgres:13"),
        ("postgres:13", False, ""),
        ("postgres:13", {}, "postgres:13"),
        ("postgres:13", {"postgres": "reg/pg@sha256:1"}, "reg/pg@sha256:1"),
        ("bitnami/redis", {"redis": "reg/redis:{tag}"}, "reg/redis:latest"),
        ("a/b:1", {"*": "mirror/{name}:{tag}"}, "mirror/a/b:1"),
        ("redis:7", {"redis": ""}, ""),
        ("redis@sha256:1", {"*": "m/{name}"}, "m/redis"),
    ],
)
def test_the_settings_say_where_an_image_is_to_be_had(image, settings, name):
    assert mapped(image, settings) == name


def test_services_are_set_in_the_file_by_a_variable_or_by_a_flag(tmp_path):
    file = tmp_path / "goldseam.toml"
    file.write_text("[images.services]\nredis = 'reg/redis:7'\n")

    assert load_settings(file, env={}).images.services == {"redis": "reg/redis:7"}
    assert load_settings(file, env={"GOLDSEAM_IMAGES_SERVICES": "off"}).images.services is False
    named = load_settings(file, env={"GOLDSEAM_IMAGES_SERVICES": "a=b:1, c=d"}).images.services
    assert named == {"a": "b:1", "c": "d"}
    assert load_settings(file, env={}, images={"services": False}).images.services is False


@pytest.mark.parametrize(
    ("text", "env"), [("services = 'no'", {}), ("services = [1]", {}), ("", {"GOLDSEAM_IMAGES_SERVICES": "maybe"})]
)
def test_a_setting_of_no_known_form_is_refused(tmp_path, text, env):
    file = tmp_path / "goldseam.toml"
    file.write_text(f"[images]\n{text}\n")

    with pytest.raises(InputError, match=r"services|SERVICES"):
        load_settings(file, env=env)


def test_the_images_of_services_are_checked_as_the_tasks_own_are(tmp_path):
    here = "registry.example/db@sha256:" + "1" * 64
    dataset = tiny.dataset(tmp_path / "dataset", with_services(DB, replace(CACHE, image=here)))
    engine = ImageCheck(has=lambda image: image == tiny.NO_IMAGE, leaks=lambda _task: ())

    found = [one.what for one in check(dataset.path, CheckScope(images=engine, in_registry=lambda _ref: False))]

    assert f"the engine has no image {here} of the service cache" in found
    assert f"of the service cache: the registry has no image {here}" in found
    assert any(one.startswith("of the service db: ") and "names no registry" in one for one in found)


def test_doctor_says_whether_services_run():
    told = [doctor.judge_services(chosen).found for chosen in (True, {"a": "b"}, False)]
    assert [text.split(",")[0].split(" ")[0] for text in told] == ["run", "run", "not"]
    assert all(doctor.judge_services(chosen).status is doctor.Status.OK for chosen in (True, {"a": "b"}, False))


def test_an_export_names_the_tasks_that_need_services():
    tasks = [Exported(instance=replace(with_services(DB).instance, image="r@sha256:1"))]

    (note,) = image_notes(tasks)
    assert note.endswith("so their tests fail there: tiny__calc-1")


class Bench:
    """What each proof and each look come to; remembers what was asked. No run is ever done."""

    def __init__(self, folder, *, alone, beside_=None, runs=(), look=None, declared=None, found=FOUND, fails=()):
        self.path = folder / "notes.jsonl"
        self.asked: list[str] = []
        self.proved: list[Subject] = []
        self._answers = [alone, beside_]
        self._declared = (
            CiTests(beside=(DeclaredService(name="db", image="postgres:13"),)) if declared is None else declared
        )
        self._found = found
        self._look = look
        for run in runs:
            Notebook(self.path, SUBJECT).add(run)

    def settle(self, subject):
        self.proved.append(subject)
        return Settled(proof=self._answers[len(self.proved) - 1], subject=subject)

    def find(self, name):
        self.asked.append(name)
        return self._found

    def observe(self, subject, _patches, _state, _number, _sandbox, _notebook):
        assert subject.test.services or subject.test.env
        self.asked.append("look" if all(one.read_only for one in subject.test.services) else "look, writable")
        if isinstance(self._look, list):
            answer = self._look.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        return self._look

    def run(self, monkeypatch, images=True):
        monkeypatch.setattr(beside, "observe", self.observe)
        bench = beside.Bench(
            sandbox=None,
            notebook_of=lambda subject: Notebook(self.path, subject),
            settle=self.settle,
            declared=lambda: self._declared,
            images=images,
            find=self.find,
            note=lambda _text: None,
        )
        return beside.settle(SUBJECT, bench)


GOOD = proof(("t::new",), ("t::old",))
REFUSED = saw("after", passed=["t::old"], failed=["t::new"], refused=("t::new",))
LOST = rejection("no_fail_to_pass")


def test_a_proof_that_lost_nothing_never_has_services(tmp_path, monkeypatch):
    bench = Bench(tmp_path, alone=GOOD, runs=[saw("after", passed=["t::new", "t::old"])])

    assert bench.run(monkeypatch).settled.proof is GOOD
    assert bench.asked == []


@pytest.mark.parametrize("alone", [LOST, proof(("t::old",))])
def test_what_is_lost_without_services_is_proved_beside_them(tmp_path, monkeypatch, alone):
    better = proof(("t::old", "t::new"))
    bench = Bench(tmp_path, alone=alone, beside_=better, runs=[REFUSED], look=saw("after", passed=["t::new", "t::old"]))

    found = bench.run(monkeypatch).settled
    assert isinstance(found.proof, type(better))
    assert found.proof.evidence["beside"]["needed_by"] == ["t::new"]
    (service,) = found.subject.test.services
    assert (service.image, service.ports, service.health) == (FOUND.name, ("5432:5432", "9000:9000"), "ready")
    assert bench.asked == ["postgres:13", "look"]


def test_a_skipped_test_is_a_loss(tmp_path, monkeypatch):
    skipped = replace(
        saw("after", passed=["t::old"]), statuses={"t::old": TestStatus.PASSED, "t::x": TestStatus.SKIPPED}
    )
    bench = Bench(tmp_path, alone=proof(("t::old",)), runs=[skipped], look=skipped)

    bench.run(monkeypatch)
    assert bench.asked == ["postgres:13", "look"]


def test_services_that_change_nothing_are_not_kept(tmp_path, monkeypatch):
    bench = Bench(tmp_path, alone=LOST, runs=[REFUSED], look=saw("after", passed=["t::old"]))

    found = bench.run(monkeypatch).settled
    assert (found.proof.reason, found.subject) == ("needs_network", SUBJECT)
    assert len(bench.proved) == 1


def test_a_service_that_can_not_be_had_is_told_and_nothing_is_run(tmp_path, monkeypatch):
    bench = Bench(tmp_path, alone=LOST, runs=[REFUSED], found=Unavailable(why="no such image"))

    tried = bench.run(monkeypatch)
    assert tried.notes == ("the service db was not run: no such image",)
    assert tried.settled.proof.detail.endswith("such as t::new; the service db was not run: no such image")
    assert bench.asked == ["postgres:13"]


def test_a_service_that_does_not_start_is_tried_with_a_root_that_it_may_write(tmp_path, monkeypatch):
    well = saw("after", passed=["t::new", "t::old"])
    look = [ServiceError("read-only"), well]
    bench = Bench(tmp_path, alone=LOST, beside_=GOOD, runs=[REFUSED], look=look)

    (service,) = bench.run(monkeypatch).settled.subject.test.services
    assert not service.read_only
    assert bench.asked[1:] == ["look", "look, writable"]


def test_a_service_that_never_starts_leaves_the_first_answer(tmp_path, monkeypatch):
    bench = Bench(tmp_path, alone=LOST, runs=[REFUSED], look=[ServiceError("one"), ServiceError("two")])

    tried = bench.run(monkeypatch)
    assert tried.settled.subject is SUBJECT
    assert tried.notes == ("two",)


def test_variables_of_ci_alone_may_make_the_difference(tmp_path, monkeypatch):
    declared = CiTests(variables={"MODE": "full"})
    bench = Bench(
        tmp_path, alone=LOST, beside_=GOOD, runs=[REFUSED], look=saw("after", passed=["t::new"]), declared=declared
    )

    assert bench.run(monkeypatch).settled.subject.test.env == {"MODE": "full"}


def test_of_two_services_with_one_port_the_first_is_run(tmp_path, monkeypatch):
    both = CiTests(
        beside=tuple(DeclaredService(name=name, image="x:1", ports=("5432:5432",)) for name in ("one", "two"))
    )
    bench = Bench(
        tmp_path, alone=LOST, runs=[REFUSED], look=saw("after"), declared=both, found=replace(FOUND, ports=())
    )

    assert bench.run(monkeypatch).notes == ("the service two was not run: another one has its name or its ports",)


@pytest.mark.parametrize("reason", ["gold_fails", "no_fail_to_pass"])
def test_a_fix_whose_tests_all_want_a_network_is_rejected_by_that_name(tmp_path, monkeypatch, reason):
    offline = saw("after", failed=["t::new"], network=("t::new",))
    bench = Bench(tmp_path, alone=rejection(reason), runs=[offline], declared=CiTests())

    found = bench.run(monkeypatch).settled.proof
    assert found.reason == "needs_network"
    assert found.detail.endswith("such as t::new")
