// Patches: parsed into files, shown alone or file by file beside another one.

function parsePatch(text) {
  const files = [];
  let file = null;
  let inHunk = false;
  const begin = (path) => { file = { path, lines: [] }; files.push(file); inHunk = false; };
  for (const line of text.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("diff --git ")) begin(line.replace(/^diff --git a\/.* b\//, ""));
    else if (!file) begin("");
    if (line.startsWith("+++ b/") && !inHunk) file.path = line.slice(6).split("\t")[0];
    let kind = "";
    if (line.startsWith("diff --git ")) kind = "file";
    else if (line.startsWith("@@")) { kind = "at"; inHunk = true; }
    else if (!inHunk) kind = "meta";
    else if (line.startsWith("+")) kind = "add";
    else if (line.startsWith("-")) kind = "del";
    else if (line.startsWith("\\")) kind = "meta";
    file.lines.push([kind, line]);
  }
  return files;
}

function diffFile(parent, file, label) {
  const pre = scrollable(make(parent, "pre", "diff"), `${label}: ${file.path || "patch"}`);
  for (const [kind, line] of file.lines) {
    const element = make(pre, "span", "l " + kind);
    if (kind === "file" || kind === "at" || kind === "meta") put(element, line);
    else colour(put(element, line.slice(0, 1)), line.slice(1), file.path);
    element.append("\n");
  }
}

function cutNote(parent, cut) {
  if (cut && cut[2] < cut[1]) make(parent, "p", "fine", `cut: the first ${size(cut[2])} of ${size(cut[1])}`);
}

function diff(parent, cut, label) {
  for (const file of parsePatch(cut[0])) diffFile(parent, file, label);
}

// Two patches side by side: each file that either touches stands in one row. Lines before the first file, such as a canary, are left out.
function beside(parent, left, right) {
  const files = [parsePatch(left.cut[0]), parsePatch(right.cut[0])];
  const paths = [...new Set(files.flat().map((file) => file.path))].filter((path) => path || files.flat().every((file) => !file.path));
  const grid = make(parent, "div", "beside");
  for (const side of [left, right]) {
    const head = make(grid, "div", "side-name", side.label);
    cutNote(head, side.cut);
  }
  for (const path of paths) {
    for (const [number, side] of [left, right].entries()) {
      const cell = make(grid, "div", "side");
      make(cell, "div", "side-which", side.label);
      const parts = files[number].filter((file) => file.path === path);
      for (const part of parts) diffFile(cell, part, side.label);
      if (!parts.length) make(cell, "p", "fine", `${side.label} does not touch ${path || "this"}`);
    }
  }
}

// A model's patch, with a choice of what stands beside it; `others` are {label, cut}.
function patchView(parent, own, others) {
  const place = make(null, "div", "patch");
  const show = (other) => {
    place.replaceChildren();
    if (other) beside(place, own, other);
    else diff(place, own.cut, own.label);
  };
  if (others.length) {
    const label = make(parent, "label", "choice", "Beside it: ");
    const choice = make(label, "select");
    make(choice, "option", "", "nothing").value = "";
    for (const [number, other] of others.entries()) make(choice, "option", "", other.label).value = String(number);
    choice.addEventListener("change", () => show(others[Number(choice.value || "-1")]));
    if (others[0].first) choice.value = "0";
    show(others[0].first ? others[0] : null);
  } else show(null);
  parent.append(place);
}
