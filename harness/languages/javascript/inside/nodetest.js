const { fileURLToPath } = await import("node:url");
const plain = (file) => (file && file.startsWith("file:") ? fileURLToPath(file) : file || "");

function textOf(error) {
  const cause = error && error.cause;
  return (cause && (cause.stack || cause.message)) || (error && (error.stack || error.message)) || "";
}

export default async function* (source) {
  const [around, printed] = [new Map(), new Map()];
  for await (const { type, data } of source) {
    if (type === "test:stderr") printed.set(plain(data.file), (printed.get(plain(data.file)) || "") + data.message);
    if (type !== "test:start" && type !== "test:pass" && type !== "test:fail") continue;
    const at = plain(data.file);
    const file = relative(at);
    if (!around.has(at)) around.set(at, []);
    const titles = around.get(at);
    titles.length = data.nesting;
    titles.push(data.name);
    if (type === "test:start") continue;
    const isFile = data.nesting === 0 && (data.name === at || data.name === file || files_.has(relative(data.name)));
    if (isFile) {
      const name = files_.has(relative(data.name)) ? relative(data.name) : file;
      if (type === "test:fail") say("collect_error", { id: name, text: (textOf(data.details.error) + "\n" + (printed.get(at) || printed.get(plain(data.name)) || "")).slice(0, 4000) });
      continue;
    }
    const isSuite = data.details.type === "suite";
    const failedBelow = type === "test:fail" && /subtests? failed|failureType.*subtestsFailed/.test(String(textOf(data.details.error)));
    if (isSuite && (type === "test:pass" || failedBelow)) continue;
    const status = data.skip !== undefined ? "skipped" : data.todo !== undefined ? "todo" : type === "test:pass" ? "passed" : "failed";
    report(file, [...titles], status, data.details.duration_ms, type === "test:fail" ? textOf(data.details.error) : "");
  }
}
