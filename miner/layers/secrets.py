"""What reaches a build from the user's environment and stays in no layer: index, proxies, certificates."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.core.errors import InputError

RUN_DIR = "/run/goldseam"
"""A tmpfs in build containers: whatever is mounted below it can't end in a layer."""
CA_PATH = f"{RUN_DIR}/ca.crt"

_PASSED = re.compile(
    r"PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|NO_INDEX|FIND_LINKS|DEFAULT_TIMEOUT)"
    r"|UV_(INDEX|DEFAULT_INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_STRATEGY|INDEX_[A-Z0-9_]+_(USERNAME|PASSWORD)"
    r"|INSECURE_HOST|NO_INDEX|FIND_LINKS|HTTP_TIMEOUT|HTTP_RETRIES|PYTHON_INSTALL_MIRROR)"
    r"|GO(PROXY|SUMDB|NOSUMDB|PRIVATE|NOPROXY|INSECURE)"
    r"|GIT_CONFIG_(COUNT|(KEY|VALUE)_[0-9]+)"
    r"|(?i:https?_proxy|no_proxy|all_proxy|npm_config_registry)"
)
_CA_NAMES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
_CA_SET = (*_CA_NAMES, "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO")
_SYSTEM_CA = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_FOR_UV = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_TRUSTED_HOST": "UV_INSECURE_HOST",
    "PIP_DEFAULT_TIMEOUT": "UV_HTTP_TIMEOUT",
}
_USERINFO = re.compile(r"(?<=://)[^/\s@'\"]+(?=@)")
_MASK = "****"
_SHORTEST_SECRET = 4


@dataclass(frozen=True, kw_only=True)
class BuildSecrets:
    """Variables and the certificate bundle of the calling user, for builds only."""

    variables: Mapping[str, str]
    ca_bundle: Path | None

    def with_proxies(self, proxies: Mapping[str, str]) -> BuildSecrets:
        """The same with these proxies, where the user's own variables name none."""
        if any(name.lower().endswith("_proxy") for name in self.variables):
            return self
        return BuildSecrets(variables={**proxies, **self.variables}, ca_bundle=self.ca_bundle)

    def mask(self, text: str) -> str:
        """A text without the credentials of index and proxy addresses."""
        for secret in self._secrets():
            text = text.replace(secret, _MASK)
        return _USERINFO.sub(_MASK, text)

    def _secrets(self) -> list[str]:
        parts = [part for value in self.variables.values() for part in _USERINFO.findall(value)]
        parts += [password for part in parts if (password := part.partition(":")[2])]
        parts += [value for name, value in self.variables.items() if name.endswith("_PASSWORD")]
        headers = (value for name, value in self.variables.items() if name.startswith("GIT_CONFIG_VALUE_"))
        parts += [value.split()[-1] for value in headers if value.strip().lower().startswith("authorization:")]
        return sorted({part for part in parts if len(part) >= _SHORTEST_SECRET}, key=len, reverse=True)

    def exported(self) -> dict[str, str]:
        """Everything to set inside a build, paths as they are there."""
        variables = dict(self.variables)
        for pip_name, uv_name in _FOR_UV.items():
            if pip_name in variables and uv_name not in variables:
                variables[uv_name] = variables[pip_name]
        if self.ca_bundle:
            variables |= dict.fromkeys(_CA_SET, CA_PATH)
        return variables


def _usable(name: str, value: str) -> bool:
    """Addresses of this machine's file system mean nothing in a container."""
    if not value or "\n" in value:
        return False
    return not (name.endswith("FIND_LINKS") and "://" not in value) and "file://" not in value


def collect(env: Mapping[str, str] | None = None) -> BuildSecrets:
    """Take what builds need from the environment of this process.

    Raises:
        InputError: SSL_CERT_FILE, PIP_CERT or REQUESTS_CA_BUNDLE names a file that is not there.

    """
    environment = os.environ if env is None else env
    variables = {name: value for name, value in environment.items() if _PASSED.fullmatch(name) and _usable(name, value)}
    for name in _CA_NAMES:
        if environment.get(name):
            bundle = Path(environment[name])
            if bundle.is_dir():
                continue
            if not bundle.is_file():
                raise InputError(f"{name} names {bundle}, which is not a file", hint=f"correct or unset {name}")
            return BuildSecrets(variables=variables, ca_bundle=bundle.resolve())
    system = next((Path(path) for path in _SYSTEM_CA if Path(path).is_file()), None)
    return BuildSecrets(variables=variables, ca_bundle=system.resolve() if system else None)
