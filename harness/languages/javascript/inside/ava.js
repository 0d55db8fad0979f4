// TAP as ava prints it: each point is a test; one more says that a file ended badly.
function read(file, text, errors) {
  const [points, notes] = [[], []];
  for (const line of text.split("\n")) {
    const point = /^(not )?ok\b\s*\d+\s*-\s*(.*?)(?:\s*#\s*(skip|todo)\b.*)?$/i.exec(line);
    if (point) points.push({ title: point[2], status: point[3] ? (/skip/i.test(point[3]) ? "skipped" : "todo") : point[1] ? "failed" : "passed", notes: [] });
    else if (points.length) points[points.length - 1].notes.push(line);
    notes.push(line);
  }
  const plan = /^\d+\.\.(\d+)$/m.exec(text);
  if (!plan || plan[1] === "0") say("collect_error", { id: file, text: (notes.join("\n") + errors).slice(0, 4000) || "it printed nothing" });
  else for (const { title, status, notes } of points) report(file, [title], status, 0, status === "failed" ? notes.join("\n") : "");
  return Boolean(plan);
}
