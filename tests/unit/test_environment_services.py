"""The services that CI files declare, and the variables that go with them; nothing of it is ever run."""

from __future__ import annotations

import pytest

from miner.evidence import ci, ci_services
from tests.trees import Files

PROJECT = "[project]\nname='x'\n"
GITHUB = """\
jobs:
  test:
    runs-on: ubuntu-latest
    strategy: {matrix: {pg: ["13", "16"], python-version: ["3.11"]}}
    env:
      DATABASE_URL: postgres://user:pass-word@localhost:5433/app
      CACHE: redis://localhost:${{ job.services.cache.ports['6379'] }}/0
      PGPASSWORD: Xy8$%
      DB_PASSWORD: s3cr3t-of-db
      DB_TOKEN: AKIAIOSFODNN7EXAMPLE
      SECRET_KEY: not-so-secret
      REMOTE: postgres://user:pass@db.example.com/app
      FROM: ${{ secrets.A }}
      FORCE_COLOR: "1"
    services:
      db:
        image: postgres:${{ matrix.pg }}
        env: {POSTGRES_PASSWORD: s3cr3t-of-db, POSTGRES_DB: app, OTHER: "${{ secrets.B }}"}
        ports: ["5433:5432", "127.0.0.1:9000:9001/tcp", "53:53/udp", "${{ matrix.no }}"]
        options: >-
          --health-cmd "pg_isready -U postgres" --health-interval=10s --health-timeout 5s
          --health-retries 20 --tmpfs /var/lib/x:size=1g -e LANG=C --network-alias store
      cache: {image: redis, ports: [6379]}
      engine: {image: "docker:dind"}
      none: {image: "${{ matrix.db == 'mysql' && 'mysql:8' || '' }}"}
    steps:
      - run: pytest
"""


def read(path, text):
    tree = Files({path: text, "pyproject.toml": PROJECT})
    return ci.read(tree)


def images(found):
    return [service.image for service in found.beside]


@pytest.fixture(scope="module")
def github():
    return read(".github/workflows/test.yml", GITHUB)


def test_a_service_of_github_is_read_whole(github):
    assert github.beside[0] == ci_services.DeclaredService(
        name="db",
        image="postgres:13",
        hosts=("store",),
        env={"POSTGRES_PASSWORD": "s3cr3t-of-db", "POSTGRES_DB": "app", "LANG": "C"},
        ports=("5433:5432", "9000:9001"),
        health="pg_isready -U postgres",
        folders=("/var/lib/x",),
        start_seconds=200.0,
    )


def test_variables_of_the_workflow_are_put_in_where_a_service_names_them():
    workflow = """\
env: {PASSWORD: word, FROM: "${{ secrets.A }}"}
jobs:
  test:
    env: {NAME: "app-${{ matrix.db }}"}
    strategy: {matrix: {db: [one, two]}}
    services:
      db:
        image: postgres
        env: {POSTGRES_PASSWORD: "${{ env.PASSWORD }}", POSTGRES_DB: "${{env.NAME}}", OTHER: "${{ env.FROM }}"}
    steps: [{run: pytest}]
"""
    [service] = read(".github/workflows/test.yml", workflow).beside
    assert service.env == {"POSTGRES_PASSWORD": "word", "POSTGRES_DB": "app-one"}


def test_a_service_that_can_not_be_run_says_why(github):
    told = {one.name: one.unusable for one in github.beside}
    assert told == {
        "db": "",
        "cache": "",
        "engine": "it is a container engine itself",
        "none": "its image can't be read from the file",
    }


def test_tests_get_the_variables_that_go_with_services(github):
    assert github.variables == {
        "DATABASE_URL": "postgres://user:pass-word@localhost:5433/app",
        "DB_PASSWORD": "s3cr3t-of-db",
        "SECRET_KEY": "not-so-secret",
    }


STEPS = """\
jobs:
  test:
    strategy: {matrix: {redis-version: [8, 7]}}
    steps:
      - uses: supercharge/redis-github-action@1.8.1
        with: {redis-version: "${{ matrix.redis-version }}", redis-port: 6380}
      - uses: harmon758/postgresql-action@v1
        with: {postgresql version: '16', postgresql db: app, postgresql user: me, postgresql password: "${{ x }}"}
      - uses: actions/setup-python@v5
      - run: sudo systemctl start mysql.service || sudo service memcached start
      - run: |
          docker run --rm -dp 9000:9000 \\
            -e MODE=dev --name store minio/minio:latest server /data > /dev/null && sleep 3
          docker run --rm alpine true
          docker run -d -v $PWD:/x nginx
      - run: pytest
"""


def test_what_a_step_of_github_starts_is_a_service():
    redis, postgres, mysql, memcached, store, nginx = read(".github/workflows/test.yml", STEPS).beside
    assert (redis.name, redis.image, redis.ports) == ("redis", "redis:8", ("6380:6379",))
    assert (postgres.image, postgres.env) == (
        "postgres:16",
        {"POSTGRES_HOST_AUTH_METHOD": "trust", "POSTGRES_DB": "app", "POSTGRES_USER": "me"},
    )
    assert (mysql.image, memcached.image) == ("mysql", "memcached")
    assert (store.name, store.image, store.command) == ("store", "minio/minio:latest", ("server", "/data"))
    assert (store.ports, store.env, nginx.unusable) == (
        ("9000:9000",),
        {"MODE": "dev"},
        "it mounts folders of its machine",
    )


def test_a_port_that_github_chooses_is_the_service_s_own():
    text = GITHUB.replace("CACHE:", "BROKER:")
    assert read(".github/workflows/test.yml", text).variables["BROKER"] == "redis://localhost:6379/0"


def test_the_step_that_runs_tests_says_which_value_counts():
    steps = "[{run: pytest, env: {DB: two}}, {run: make docs, env: {DB: three}}]"
    text = f"env: {{DB: one}}\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: {steps}\n"
    assert read(".github/workflows/test.yml", text).variables == {"DB": "two"}


def test_a_service_of_gitlab_has_aliases_and_the_job_s_variables():
    text = (
        "variables: {POSTGRES_PASSWORD: word}\nservices: [redis:7]\n"
        "test:\n  script: pytest\n  variables: {POSTGRES_DB: app}\n  services:\n"
        "    - {name: 'acme/postgres:15', alias: 'db,store', variables: {ONE: x}, command: [postgres, -c, fsync=off]}\n"
        "    - mysql\n"
    )
    found = read(".gitlab-ci.yml", text).beside
    assert [(one.name, one.hosts, one.image) for one in found] == [
        ("db", ("store", "acme__postgres", "acme-postgres"), "acme/postgres:15"),
        ("mysql", (), "mysql"),
    ]
    assert found[0].env == {"POSTGRES_PASSWORD": "word", "POSTGRES_DB": "app", "ONE": "x"}
    assert found[0].command == ("postgres", "-c", "fsync=off")


def test_the_images_of_circle_after_the_first_are_services():
    text = (
        "version: 2\njobs:\n  build:\n    docker:\n      - image: cimg/python:3.9\n"
        "        environment: {DATABASE_URL: 'postgres://root@localhost/x'}\n"
        "      - image: cimg/postgres:14.2\n        environment: [POSTGRES_USER=root, POSTGRES_DB=x]\n"
        "      - {image: 'redis:6', name: cache, command: redis-server --port 7000}\n"
        "    steps: [{run: pytest}]\n"
    )
    found = read(".circleci/config.yml", text)
    assert [(one.name, one.image, dict(one.env), one.command) for one in found.beside] == [
        ("postgres", "cimg/postgres:14.2", {"POSTGRES_USER": "root", "POSTGRES_DB": "x"}, ()),
        ("cache", "redis:6", {}, ("redis-server", "--port", "7000")),
    ]
    assert found.variables == {"DATABASE_URL": "postgres://root@localhost/x"}


def test_azure_s_containers_are_services_where_a_job_has_them():
    text = (
        "resources:\n  containers:\n"
        "  - {container: pg, image: 'postgres:12', env: {POSTGRES_DB: x}, ports: ['5432:5432']}\n"
        "  - {container: other, image: redis}\n"
        "jobs:\n- job: a\n  services: {postgres: pg}\n  steps: [{script: pytest}]\n"
    )
    (found,) = read("azure-pipelines.yml", text).beside
    assert (found.name, found.image, found.ports) == ("postgres", "postgres:12", ("5432:5432",))


def test_what_travis_has_on_its_machine_is_an_official_image():
    text = (
        "services: [redis-server, postgresql, xvfb]\naddons: {postgresql: '9.6'}\n"
        "before_script: [psql -c 'create database app;' -U postgres]\nscript: pytest\n"
    )
    found = read(".travis.yml", text)
    assert [(one.image, dict(one.env)) for one in found.beside if not one.unusable] == [
        ("redis", {}),
        ("postgres:9.6", {"POSTGRES_HOST_AUTH_METHOD": "trust", "POSTGRES_DB": "app"}),
    ]
    assert images(found) == ["redis", "postgres:9.6", ""]


def test_a_variable_that_a_matrix_gives_several_values_is_set_to_none_of_them():
    text = "services: [redis-server]\nenv: [DB=one KEEP=x, DB=two KEEP=x]\nscript: pytest\n"
    assert read(".travis.yml", text).variables == {"KEEP": "x"}


@pytest.mark.parametrize("services", ["[x]", "text", "{a: [1], b: {ports: {c: d}, options: [e], env: [f]}, '%$': {}}"])
def test_services_of_no_known_form_are_no_error(services):
    for text in (
        f"jobs: {{a: {{services: {services}, steps: [{{run: pytest}}]}}}}",
        f"services: {services}\nscript: pytest",
    ):
        for path in (".github/workflows/a.yml", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml"):
            read(path, text)


OF_NODE = """\
jobs:
  lint: {steps: [run: npm run lint]}
  unit:
    env: {STORE: "redis://localhost:6379", NODE_OPTIONS: --no-warnings, GOFLAGS: -mod=vendor}
    services: {store: {image: "redis:7", ports: ["6379:6379"]}}
    steps:
      - run: npm ci
      - run: RUN
"""


@pytest.mark.parametrize(
    "run",
    [
        *("npm test", "npm t", "npm run test:unit -- --ci", "yarn test", "yarn workspace a test", "pnpm -r test"),
        *(
            "npx mocha --exit",
            "npx nyc mocha",
            "npx vitest run",
            "jest",
            "node --test",
            "node test/index.js",
            "npm run unit-test",
        ),
        *("go test -race ./...", "gotestsum -- ./...", "mvn -B verify", "./mvnw clean install", "./gradlew :core:test"),
        *("gradle check -x lint", "./gradlew integrationTest", "cargo test --all", "cargo +nightly test"),
        *("cargo nextest run", "xvfb-run -a npm test"),
    ],
)
def test_a_job_that_runs_the_tests_of_another_language_has_services_and_variables(run):
    found = read(".github/workflows/test.yml", OF_NODE.replace("RUN", run))

    assert images(found) == ["redis:7"]
    assert found.variables == {"STORE": "redis://localhost:6379"}


@pytest.mark.parametrize(
    "run",
    [
        *(
            "npm install --save-dev jest",
            "yarn add mocha",
            "npm publish --tag latest",
            "npm run build",
            "go build ./test",
        ),
        *("mvn -B install -DskipTests", "./gradlew build -x test", "cargo build", "cargo install cargo-nextest"),
        *("echo npm test", "node build.js"),
    ],
)
def test_a_job_that_only_builds_has_none(run):
    assert not read(".github/workflows/test.yml", OF_NODE.replace("RUN", run)).beside


def test_a_job_that_runs_python_s_tests_goes_before_those_of_other_languages():
    other = "  python: {services: {db: {image: postgres}}, steps: [run: pytest]}\n"

    assert images(read(".github/workflows/test.yml", OF_NODE.replace("RUN", "npm test") + other)) == ["postgres"]


def test_what_travis_runs_of_its_own_accord_are_tests():
    assert read(".travis.yml", "language: node_js\nservices: redis-server\n").beside[0].image == "redis"
    assert not read(".travis.yml", "language: node_js\nservices: redis-server\nscript: npm run lint\n").beside
