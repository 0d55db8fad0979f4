# In a task's container and in the builds of its image, before what calls it: a copy of Go's testing package that calls
# recorder.go and handout.go, which the compiler is given by -overlay. The toolchain on disk stays as it is.
import json
import os
import re

HOOKS = (
    ("testing.go", r"func tRunner\(t \*T, fn func\(t \*T\)\) \{", "goldseamStart(t.name)"),
    ("testing.go", r"func \(t \*T\) report\(\) \{", "goldseamReport(&t.common)"),
    ("testing.go", r"func \(m \*M\) Run\(\) \(code int\) \{", "defer goldseamDone()"),
    ("fuzz.go", r"func fRunner\(f \*F, fn func\(\*F\)\) \{", "goldseamStart(f.name)"),
    ("fuzz.go", r"func \(f \*F\) report\(\) \{", "goldseamReport(&f.common)"),
    ("run_example.go", r"func runExample\(eg InternalExample\) \(ok bool\) \{", "goldseamStart(eg.Name)"),
    (
        "example.go",
        r"func \(eg \*InternalExample\) processRunResult\(.*\) \(passed bool\) \{",
        "defer goldseamExample(eg.Name, &passed); goldseamOutput(eg, stdout)",
    ),
)
"""Where the recorder is called from: file of the testing package, the line it stands behind, the call."""


def overlaid(folder, goroot, sources):
    """The overlay: the testing package with some sources more and calls of the recorder; written to a folder."""
    package = os.path.join(goroot, "src", "testing")
    texts = {"goldseam_" + name: text for name, text in sources.items()}
    for name, line, call in HOOKS:
        if name not in texts:
            with open(os.path.join(package, name), encoding="utf-8") as file:
                texts[name] = file.read()
        texts[name], count = re.subn("(?m)^" + line + "$", lambda found: found.group() + " " + call, texts[name])
        if count != 1:
            raise SystemExit("this version of Go has another testing package: %s" % name)
    places = {}
    for flag in os.environ.get("GOFLAGS", "").split():  # of an image: it has one file that the tree lacks
        if flag.startswith("-overlay="):
            with open(flag[len("-overlay=") :], encoding="utf-8") as file:
                places.update(json.load(file)["Replace"])
    for name, text in texts.items():
        places[os.path.join(package, name)] = os.path.join(folder, name)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    place = os.path.join(folder, "overlay.json")
    with open(place, "w", encoding="utf-8") as file:
        json.dump({"Replace": places}, file)
    return place
