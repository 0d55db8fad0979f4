// The predictions of the tasks that are shown, as a CSV file (RFC 4180) that a spreadsheet opens.
const COLUMNS = ["instance_id", "title", "model", "sample", "outcome", "failure_class", "reason", "fail_to_pass", "pass_to_pass",
  "test_seconds", "cost", "latency", "judged"];

// A spreadsheet takes what begins with one of these for a formula.
const FORMULA = /^[=+\-@\t\r]/;
function csvField(value) {
  const text = String(value ?? "");
  const safe = typeof value === "string" && FORMULA.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv() {
  const lines = [COLUMNS.map(csvField).join(",")];
  for (const element of document.querySelectorAll("tbody.task:not([hidden])")) {
    const { id, title } = index.tasks[element.dataset.number];
    for (const p of detailsOf(Number(element.dataset.number)).predictions) {
      const used = Object.fromEntries(p.usage);
      lines.push([id, title, name(p.column), p.sample, p.outcome, p.class, p.reason, p.f2p, p.p2p, p.timings.tests, used.cost,
        used.latency, p.place].map(csvField).join(","));
    }
  }
  return lines.join("\r\n") + "\r\n";
}

byId("_csv").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  link.download = "goldseam.csv";
  link.click();
  URL.revokeObjectURL(link.href);
});
