// Text from elsewhere is only ever added as text nodes: nothing here reads HTML.
const byId = (id) => document.getElementById(id);
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

// Controls, bidi characters and bytes that were no text stand as their number.
function put(parent, text) {
  let at = 0;
  for (const found of text.matchAll(INVISIBLE)) {
    if (found.index > at) parent.append(text.slice(at, found.index));
    const code = found[0].codePointAt(0);
    const byte = code >= 0xdc80 && code <= 0xdcff;
    const number = (byte ? code - 0xdc00 : code).toString(16).toUpperCase().padStart(byte ? 2 : 4, "0");
    make(parent, "span", "ctl").append((byte ? "0x" : "U+") + number);
    at = found.index + found[0].length;
  }
  if (at < text.length) parent.append(text.slice(at));
  return parent;
}

function make(parent, tag, classes, text) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text !== undefined) put(element, String(text));
  if (parent) parent.append(element);
  return element;
}

function icon(parent, kind) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", "#_i-" + kind);
  svg.append(use);
  parent.append(svg);
}

function size(bytes) {
  if (bytes < 1024) return bytes + " bytes";
  return bytes < 1048576 ? (bytes / 1024).toFixed(1) + " kB" : (bytes / 1048576).toFixed(1) + " MB";
}

function facts(parent, pairs) {
  const list = make(parent, "dl", "facts");
  for (const [name, value] of pairs) {
    const pair = make(list, "div");
    make(pair, "dt", "", name);
    make(pair, "dd", "", value);
  }
}

// A cut text is [text, bytes of the whole, bytes shown, end]; with an end, the middle is left out, else the end is.
function heading(parent, text, cut) {
  const element = make(parent, "h3", "", text);
  if (cut && cut[2] < cut[1]) {
    const which = cut[3] ? "first and last" : "first";
    make(element, "small", "", `cut: the ${which} ${size(cut[2])} of ${size(cut[1])}`);
  }
  return element;
}

function scrollable(element, label) {
  element.tabIndex = 0;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
  return element;
}

function block(parent, cut, label, classes) {
  const pre = scrollable(make(parent, "pre", classes, cut[0]), label);
  if (cut[3]) {
    make(pre, "span", "gap", `${size(cut[1] - cut[2])} of ${size(cut[1])} left out here`);
    put(pre, cut[3]);
  }
  return pre;
}

function table(parent, label, names) {
  const made = make(scrollable(make(parent, "div", "scroll"), label), "table", "results");
  const row = make(make(made, "thead"), "tr");
  for (const name of names) make(row, "th", "", name).scope = "col";
  return make(made, "tbody");
}

// Fills a <details> when it is first opened.
function lazily(details, fill) {
  let done = false;
  const run = () => { if (!done && details.open) { done = true; fill(); } };
  details.addEventListener("toggle", run);
  return run;
}
