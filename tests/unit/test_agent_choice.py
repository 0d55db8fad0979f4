"""Agents from what a command line says."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.errors import InputError
from harness.solve.agents.choice import AgentName, Choice, command_settings, make
from harness.solve.agents.command import CommandSettings, Where


def test_every_agent_that_needs_no_other_program_is_made_by_its_name():
    program = command_settings("agent {model}", where="host", minutes=2)
    assert program == CommandSettings(command="agent {model}", where=Where.HOST, seconds=120)
    made = [
        make(Choice(name=AgentName.SINGLE)),
        make(Choice(name=AgentName.LOOP, max_turns=7)),
        make(Choice(name=AgentName.COMMAND, command=program)),
    ]
    assert [agent.name for agent in made] == ["single", "loop", "command"]
    assert made[1].settings() == {"max_turns": 7}
    assert made[2].settings() == {"command": "agent {model}", "where": "host", "allow": [], "seconds": 120}


WRONG = {
    "turns for single": Choice(name=AgentName.SINGLE, max_turns=3),
    "turns for a program": Choice(name=AgentName.COMMAND, max_turns=3, command=CommandSettings(command="x")),
    "a program for another agent": Choice(name=AgentName.LOOP, command=CommandSettings(command="x")),
    "no program": Choice(name=AgentName.COMMAND),
    "a number of tokens to show for loop": Choice(name=AgentName.LOOP, file_tokens=100),
}


@pytest.mark.parametrize("choice", WRONG.values(), ids=WRONG)
def test_a_setting_that_an_agent_does_not_have_is_refused(choice):
    with pytest.raises(InputError):
        make(choice)


def test_settings_of_a_program_without_one_are_refused():
    assert command_settings(None) is None
    for settings in ({"where": "host"}, {"mount": Path()}, {"allow": ["a:1"]}, {"minutes": 0.0}):
        with pytest.raises(InputError, match="--agent-command"):
            command_settings(None, **settings)


def test_a_place_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="container or host"):
        command_settings("x", where="moon")


def test_a_folder_that_the_container_could_not_read_is_refused_with_what_to_do(tmp_path):
    tmp_path.chmod(0o700)
    with pytest.raises(InputError) as failed:
        make(Choice(name=AgentName.COMMAND, command=CommandSettings(command="x", mount=tmp_path)))
    assert "chmod" in failed.value.hint
    with pytest.raises(InputError, match="not a folder"):
        make(Choice(name=AgentName.COMMAND, command=CommandSettings(command="x", mount=tmp_path / "none")))
