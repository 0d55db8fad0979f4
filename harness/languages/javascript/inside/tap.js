// TAP as tape and tap print it: a test is a comment with all points below it, or a subtest with the point that ends it;
// beside subtests all other points are one of the file.
function read(file, text, errors, code) {
  const points = /^(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*(skip|todo)\b.*|#\s*time=([\d.]+)ms.*)?$/i;
  let [title, failed, any, planned, nested, begun, notes] = ["", false, false, false, false, false, []];
  const end = () => {
    if (any) report(file, [title], failed ? "failed" : "passed", 0, notes.join("\n"));
    [failed, any, notes] = [false, false, []];
  };
  for (const line of text.split("\n")) {
    const point = points.exec(line);
    if (/^# Subtest: /.test(line)) {
      [nested, begun] = [true, true];
    } else if (/^\d+\.\.\d+/.test(line)) {
      planned = true;
    } else if (point && nested && (begun || line.endsWith("{"))) {
      begun = false;
      report(file, [point[2]], point[3] ? point[3].toLowerCase().replace("skip", "skipped") : point[1] ? "failed" : "passed", Number(point[4] || 0), notes.join("\n"));
      notes = [];
    } else if (point) {
      any = true;
      failed = failed || (Boolean(point[1]) && !point[3]);
      if (point[1]) notes.push(line);
    } else if (line.startsWith("# ") && !nested) {
      if (/^# (tests|pass|fail|ok)\b/.test(line)) continue;
      end();
      title = line.slice(2);
    } else if (notes.length || nested) {
      notes.push(line);
    }
  }
  failed = failed || !planned; // what it ended in
  end();
  const why = "it ended before it had said how many tests there are\n" + errors;
  if (!planned && !code) ended(file, why);
  else if (!planned) say("collect_error", { id: file, text: why });
  return planned;
}
