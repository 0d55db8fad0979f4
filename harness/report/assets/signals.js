// What was measured beside the verdict. Sections and fields are shown as they come: newer versions may bring others.

const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const human = (name) => name.replaceAll("_", " ");

function plain(value) {
  if (value === null || value === undefined) return "–";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : value.toFixed(3);
  if (Array.isArray(value)) return value.map(plain).join(", ") || "none";
  if (isMap(value)) return Object.entries(value).map(([name, part]) => `${human(name)} ${plain(part)}`).join(", ") || "none";
  return String(value);
}

// What a person should not miss, in a few words.
function signalNews(signals) {
  const section = (name) => (isMap(signals[name]) ? signals[name] : {});
  const count = (list) => (Array.isArray(list) ? list.length : 0);
  const news = [];
  if (section("compiles").ok === false) news.push("does not compile");
  if (section("imports").ok === false) news.push("does not import");
  const findings = [[count(section("security").new), "security finding"], [count(section("lint").new), "lint finding"],
    [section("network").attempts, "network attempt"], [section("writes").files, "write outside of the tree", "writes outside of the tree"]];
  for (const [number, one, many] of findings) if (number > 0) news.push(`${number} ${number === 1 ? one : many || one + "s"}`);
  if (section("complexity").delta > 0) news.push(`complexity +${section("complexity").delta}`);
  return news.join(", ") || "nothing that stands out";
}

function signalSection(parent, name, value) {
  if (!isMap(value) && !(Array.isArray(value) && value.some(isMap))) return;
  make(parent, "h4", "", human(name));
  if (value.measured === false) return make(parent, "p", "fine", "not measured" + (value.why_not ? ": " + plain(value.why_not) : ""));
  const fields = Array.isArray(value) ? [[name, value]] : Object.entries(value);
  const lists = fields.filter(([, part]) => Array.isArray(part) && part.some(isMap));
  const others = fields.filter(([field, part]) => !(Array.isArray(part) && part.some(isMap)) && field !== "measured" && field !== "why_not");
  if (others.length) facts(parent, others.map(([field, part]) => [human(field), plain(part)]));
  for (const [field, rows] of lists) {
    const columns = [...new Set(rows.filter(isMap).flatMap((row) => Object.keys(row)))];
    make(parent, "p", "fine", human(field));
    const body = table(parent, `${human(name)}: ${human(field)}`, columns.map(human));
    for (const row of rows) {
      const line = make(body, "tr");
      for (const column of columns) make(line, "td", "", plain(isMap(row) ? row[column] : row));
    }
  }
}

function signalsView(parent, signals) {
  const names = Object.keys(signals).filter((name) => name !== "schema_version");
  if (!names.length) return;
  make(parent, "p", "", signalNews(signals));
  for (const name of names) signalSection(parent, name, signals[name]);
  const rest = names.filter((name) => !isMap(signals[name]) && !(Array.isArray(signals[name]) && signals[name].some(isMap)));
  if (rest.length) facts(parent, rest.map((name) => [human(name), plain(signals[name])]));
}
