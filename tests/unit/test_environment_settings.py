import pytest

from harness.config.settings import load_settings
from harness.core.errors import InputError


@pytest.fixture
def file(tmp_path):
    return tmp_path / "goldseam.toml"


def test_without_a_file_the_defaults_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_settings(env={}).images.base is None


def test_a_variable_goes_before_the_file(file):
    file.write_text("[images]\nbase = 'one'\n")
    assert load_settings(file, env={"GOLDSEAM_IMAGES_BASE": "two"}).images.base == "two"


def test_a_flag_goes_before_a_variable(file):
    file.write_text("")
    settings = load_settings(file, env={"GOLDSEAM_IMAGES_BASE": "two"}, images={"base": "three", "network": None})
    assert (settings.images.base, settings.images.network) == ("three", "bridge")


def test_an_unknown_key_is_named(file):
    file.write_text("[images]\nbasis = 'one'\n")
    with pytest.raises(InputError, match=r"images\.basis: unknown key"):
        load_settings(file, env={})


def test_an_unknown_section_is_named(file):
    file.write_text("[image]\nbase = 'one'\n")
    with pytest.raises(InputError, match="image: unknown key"):
        load_settings(file, env={})


def test_broken_toml_is_an_input_error(file):
    file.write_text("[images\n")
    with pytest.raises(InputError, match="not valid TOML"):
        load_settings(file, env={})
    file.write_bytes(b"[images]\n# \xff\n")
    with pytest.raises(InputError, match=r"is not UTF-8 \(byte 11 of the file\)"):
        load_settings(file, env={})


def test_a_python_folder_without_the_interpreter_is_refused(file, tmp_path):
    file.write_text(f"[images.pythons]\n'3.9' = '{tmp_path}'\n")
    with pytest.raises(InputError, match=r"images\.pythons: Python 3\.9: no bin/python3\.9"):
        load_settings(file, env={})


def test_a_node_folder_without_the_program_is_refused(file, tmp_path):
    file.write_text(f"[images.nodes]\n'18' = '{tmp_path}'\n")
    with pytest.raises(InputError, match=r"images\.nodes: Node 18: no bin/node"):
        load_settings(file, env={})


def test_pythons_and_nodes_come_from_a_variable_as_well(file, tmp_path):
    file.write_text("")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.9").touch()
    (tmp_path / "bin" / "node").touch()
    assert load_settings(file, env={"GOLDSEAM_IMAGES_NODES": f"18={tmp_path}"}).images.nodes == {"18": tmp_path}
    assert load_settings(file, env={"GOLDSEAM_IMAGES_PYTHONS": f"3.9={tmp_path}"}).images.pythons == {"3.9": tmp_path}


def test_a_missing_file_that_was_asked_for_is_an_input_error(file):
    with pytest.raises(InputError, match="no settings file"):
        load_settings(file, env={})


def test_hosts_of_a_variable_are_separated_by_commas_or_spaces():
    env = {"GOLDSEAM_IMAGES_ALLOW_HOSTS": "one.example, two.example:8443 *.three.example"}
    assert load_settings(env=env).images.allow_hosts == ("one.example", "two.example:8443", "*.three.example")


@pytest.mark.parametrize("name", ["https://one.example", "one.example/path", "*", "one example", ""])
def test_what_is_no_host_is_refused_by_name(name, tmp_path):
    file = tmp_path / "goldseam.toml"
    file.write_text(f"[images]\nallow_hosts = [{name!r}]\n")
    with pytest.raises(InputError, match=r"images\.allow_hosts"):
        load_settings(file, env={})
