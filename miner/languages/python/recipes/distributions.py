"""Which distribution has a module. Pure."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miner.evidence.tree import Tree

OTHERWISE_NAMED = {
    "Crypto": "pycryptodome",
    "Cryptodome": "pycryptodomex",
    "IPython": "ipython",
    "Levenshtein": "python-Levenshtein",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow",
    "_pytest": "",
    "apiclient": "google-api-python-client",
    "apt": "",
    "attr": "attrs",
    "babel": "Babel",
    "bs4": "beautifulsoup4",
    "cairo": "pycairo",
    "colour": "colour-science",
    "confluent_kafka": "confluent-kafka",
    "corsheaders": "django-cors-headers",
    "cpuinfo": "py-cpuinfo",
    "crispy_forms": "django-crispy-forms",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dbus": "dbus-python",
    "debug_toolbar": "django-debug-toolbar",
    "django_extensions": "django-extensions",
    "django_filters": "django-filter",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "environ": "django-environ",
    "factory": "factory-boy",
    "faker": "Faker",
    "fitz": "PyMuPDF",
    "flask": "Flask",
    "flask_cors": "Flask-Cors",
    "flask_login": "Flask-Login",
    "flask_migrate": "Flask-Migrate",
    "flask_sqlalchemy": "Flask-SQLAlchemy",
    "flask_wtf": "Flask-WTF",
    "git": "GitPython",
    "github": "PyGithub",
    "gi": "PyGObject",
    "google.cloud.bigquery": "google-cloud-bigquery",
    "google.cloud.pubsub": "google-cloud-pubsub",
    "google.cloud.storage": "google-cloud-storage",
    "google.protobuf": "protobuf",
    "grpc": "grpcio",
    "html2text": "html2text",
    "igraph": "python-igraph",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "kafka": "kafka-python",
    "ldap": "python-ldap",
    "localflavor": "django-localflavor",
    "lxml": "lxml",
    "magic": "python-magic",
    "markdown": "Markdown",
    "memcache": "python-memcached",
    "mpl_toolkits": "matplotlib",
    "multipart": "python-multipart",
    "nacl": "PyNaCl",
    "netCDF4": "netCDF4",
    "odf": "odfpy",
    "osgeo": "GDAL",
    "past": "future",
    "pkg_resources": "setuptools",
    "playhouse": "peewee",
    "pptx": "python-pptx",
    "prometheus_client": "prometheus-client",
    "psycopg2": "psycopg2-binary",
    "pwiz": "peewee",
    "pylab": "matplotlib",
    "pymysql": "PyMySQL",
    "pythonjsonlogger": "python-json-logger",
    "rest_framework": "djangorestframework",
    "rest_framework_simplejwt": "djangorestframework-simplejwt",
    "ruamel": "ruamel.yaml",
    "serial": "pyserial",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "slugify": "python-slugify",
    "smartcard": "pyscard",
    "snappy": "python-snappy",
    "socks": "PySocks",
    "sqlalchemy": "SQLAlchemy",
    "storages": "django-storages",
    "swiftclient": "python-swiftclient",
    "telegram": "python-telegram-bot",
    "tlz": "toolz",
    "umap": "umap-learn",
    "usb": "pyusb",
    "vcr": "vcrpy",
    "webob": "WebOb",
    "webtest": "WebTest",
    "websocket": "websocket-client",
    "werkzeug": "Werkzeug",
    "wx": "wxPython",
    "xdist": "pytest-xdist",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
    "zope.interface": "zope.interface",
}
"""Distributions whose name is not that of their module; an empty one has none that pip could install."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,60}")
_OTHER_SYSTEMS = frozenset({"winreg", "msvcrt", "_winapi", "win32api", "win32con", "pythoncom", "pywintypes", "wmi"})


def of_module(module: str) -> str | None:
    """The distribution that has a module; None where none can be told, such as for one of the standard library.

    A module that the table doesn't know is taken to be in the distribution of its own name.
    """
    parts = module.split(".")
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        if name in OTHERWISE_NAMED:
            return OTHERWISE_NAMED[name] or None
    top = parts[0]
    if top in sys.stdlib_module_names or top in _OTHER_SYSTEMS or not _PLAIN.fullmatch(top):
        return None
    if top.lower() in _NOT_ON_AN_INDEX:
        return None
    return top.replace("_", "-")


_NOT_ON_AN_INDEX = frozenset({"conftest", "helpers", "setup", "settings", "test", "testing", "tests", "utils", "util"})
"""What a test imports under these names is its repository's own, whatever the index has by the same name."""


def own_modules(tree: Tree) -> frozenset[str]:
    """The top-level names by which something of the tree can be imported, once its tests run.

    pytest puts the folder above a file's outermost package on sys.path; packages without `__init__.py` are imported
    from the root and from `src` and the like.
    """
    paths = [path for path in tree.files() if path.endswith((".py", ".pyx", ".so"))]
    packages = {path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py")}
    modules: set[str] = set()
    for path in paths:
        parts = path.split("/")
        place = len(parts) - 1
        while place and "/".join(parts[:place]) in packages:
            place -= 1
        modules.add(parts[place].partition(".")[0])
        modules.add(parts[0].partition(".")[0])
        if len(parts) > 1 and parts[0] in _ROOTS:
            modules.add(parts[1].partition(".")[0])
    return frozenset(modules)


_ROOTS = ("src", "lib", "python")
