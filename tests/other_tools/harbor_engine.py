"""Harbor's environment on a bare engine: its own needs Docker Compose, which not every machine has.

Imported by Harbor, in its own Python: nothing of goldseam is there.
"""

import subprocess
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities


class PlainDocker(BaseEnvironment):
    """One container of the task's image, without a network, driven by the docker command."""

    @staticmethod
    def type():
        return "plain-docker"

    @property
    def capabilities(self):
        return EnvironmentCapabilities(disable_internet=True)

    def _validate_definition(self):
        assert self.task_env_config.docker_image
        assert self._network_disabled

    async def start(self, force_build):
        image = self.task_env_config.docker_image
        self.container = docker("run", "-d", "--rm", "--init", "--network", "none", image, "sleep", "1200").strip()
        await self.ensure_dirs(self._mount_targets(writable_only=True))

    async def stop(self, delete):
        docker("kill", self.container)

    async def upload_file(self, source_path, target_path):
        docker("cp", str(source_path), f"{self.container}:{target_path}")

    async def upload_dir(self, source_dir, target_dir):
        docker("exec", self.container, "mkdir", "-p", target_dir)
        docker("cp", f"{source_dir}/.", f"{self.container}:{target_dir}")

    async def download_file(self, source_path, target_path):
        docker("cp", f"{self.container}:{source_path}", str(target_path))

    async def download_dir(self, source_dir, target_dir):
        Path(target_dir).mkdir(parents=True, exist_ok=True)
        docker("cp", f"{self.container}:{source_dir}/.", str(target_dir))

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        options = [word for pair in (self._merge_env(env) or {}).items() for word in ("-e", "=".join(pair))]
        argv = ["exec", *options, "-w", cwd or self.task_env_config.workdir, self.container, "bash", "-c", command]
        done = subprocess.run(["docker", *argv], capture_output=True, text=True, timeout=timeout_sec, check=False)
        return ExecResult(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)


def docker(*words):
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout
