// Colours for code, good enough for reading a patch: comments, strings, numbers and keywords, one line at a time.
const KEYWORDS = new Set((
  "and as assert async await bool break case catch class const continue def default defer del do elif else end enum " +
  "except export extends false False final finally fn for from func function global go if impl implements import in " +
  "instanceof int interface is lambda let match mod mut namespace new nil None nonlocal not null or package pass " +
  "private protected pub public raise return select self static struct super switch this throw trait true True try " +
  "type typeof undefined use using var void where while with yield"
).split(" "));
const HASH_COMMENTS = /\.(py|pyi|rb|sh|toml|ya?ml|cfg|ini|r|pl)$/;
const STRINGS = `"(?:\\\\.|[^"\\\\])*"|'(?:\\\\.|[^'\\\\])*'|\`(?:\\\\.|[^\`\\\\])*\``;
const AFTER_HASH = new RegExp(`(#.*)|(${STRINGS})|(\\b\\d[\\w.]*)|([A-Za-z_]\\w*)`, "g");
const AFTER_SLASHES = new RegExp(`(//.*|/\\*.*?\\*/)|(${STRINGS})|(\\b\\d[\\w.]*)|([A-Za-z_]\\w*)`, "g");
const LONGEST_COLOURED = 1000;

function colour(parent, code, path) {
  if (code.length > LONGEST_COLOURED) return put(parent, code);
  let at = 0;
  for (const found of code.matchAll(HASH_COMMENTS.test(path) ? AFTER_HASH : AFTER_SLASHES)) {
    const [word, comment, string, number, name] = found;
    const kind = comment ? "c-comment" : string ? "c-string" : number ? "c-number" : KEYWORDS.has(name) ? "c-word" : "";
    if (!kind) continue;
    put(parent, code.slice(at, found.index));
    make(parent, "span", kind, word);
    at = found.index + word.length;
  }
  return put(parent, code.slice(at));
}
