// Loads TypeScript where Node can't: each file alone, by the project's own compiler and its options, types unchecked.
// What can't be found as Node looks for it is looked for as the compiler would (`./a.js` is a.ts, paths, folders).
// From 7 on the compiler is no library: Node takes the types out then, and files are looked for by their endings.
function typed(module, fs, path, url) {
  let compiler = null;
  const given = () => {
    if (compiler === null) {
      const ts = module.createRequire(path.join(process.cwd(), "package.json"))("typescript");
      if (!ts.transpileModule) return (compiler = {});
      const file = ts.findConfigFile(process.cwd(), ts.sys.fileExists);
      const read = file ? ts.readConfigFile(file, ts.sys.readFile).config || {} : {};
      const host = Object.assign({}, ts.sys, { readDirectory: () => [] });
      compiler = { ts, options: ts.parseJsonConfigFileContent(read, host, file ? path.dirname(file) : process.cwd()).options };
    }
    return compiler;
  };

  const isTyped = (file) => /\.[cm]?tsx?$/.test(file) && !file.includes("/node_modules/");

  function isModule(file) {
    if (/\.[cm]ts$/.test(file)) return file.endsWith(".mts");
    if (!given().ts && /^(?:import|export)\b/m.test(fs.readFileSync(file, "utf8"))) return true;
    for (let at = path.dirname(file); ; at = path.dirname(at)) {
      const manifest = path.join(at, "package.json");
      if (fs.existsSync(manifest)) return JSON.parse(fs.readFileSync(manifest, "utf8")).type === "module";
      if (at === path.dirname(at)) return false;
    }
  }

  function stripped(source) {
    try {
      return module.stripTypeScriptTypes(source, { mode: "transform" });
    } catch (error) {
      return module.stripTypeScriptTypes(source); // Node 26 knows no other way
    }
  }

  function transpiled(file) {
    const { ts, options } = given();
    const source = fs.readFileSync(file, "utf8");
    if (!ts) return stripped(source);
    const kind = isModule(file);
    const own = { module: kind ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS, isolatedModules: true, inlineSourceMap: true };
    const off = ["sourceMap", "declaration", "declarationMap", "emitDeclarationOnly", "composite", "incremental", "noEmit"];
    for (const name of kind ? off : [...off, "verbatimModuleSyntax"]) own[name] = false;
    for (const name of ["moduleResolution", "outFile", "out", "tsBuildInfoFile", "rewriteRelativeImportExtensions"]) own[name] = undefined;
    if (options.jsx === ts.JsxEmit.Preserve) own.jsx = ts.JsxEmit.React;
    const usual = { esModuleInterop: true, target: ts.ScriptTarget.ES2022 };
    const compilerOptions = Object.assign(usual, options, own);
    return ts.transpileModule(source, { fileName: file, compilerOptions }).outputText;
  }

  function found(name, from) {
    if (!from || from.includes("/node_modules/")) return null;
    const { ts, options } = given();
    if (!ts) return byEnding(name, from);
    const { resolvedModule } = ts.resolveModuleName(name, from, options, ts.sys);
    const file = resolvedModule && resolvedModule.resolvedFileName;
    return file && !/\.d\.[cm]?ts$/.test(file) ? file : null;
  }

  function byEnding(name, from) {
    const place = path.resolve(path.dirname(from), name);
    const ways = [place.replace(/js(x?)$/, "ts$1"), place.replace(/js$/, "tsx"), ...[".ts", ".tsx", "/index.ts"].map((ending) => place + ending)];
    return (name.startsWith(".") && ways.find((way) => way !== place && fs.existsSync(way))) || null;
  }

  function otherwise(name, context, error) {
    const from = context.parentURL && context.parentURL.startsWith("file:") ? url.fileURLToPath(context.parentURL) : "";
    const file = found(name, from);
    if (!file) throw error;
    return { url: url.pathToFileURL(file).href, shortCircuit: true };
  }

  function load(address, withSource) {
    const file = address.startsWith("file:") ? url.fileURLToPath(address.split("?")[0]) : "";
    if (!isTyped(file)) return null;
    const format = isModule(file) ? "module" : "commonjs";
    // without its source, Node leaves a CommonJS module to `require`
    return format === "module" || withSource ? { format, source: transpiled(file), shortCircuit: true } : { format, shortCircuit: true };
  }

  return { transpiled, isTyped, found, otherwise, load };
}

const hooks = typed(module_, fs_, path_, url_);
// the hooks of Node 22 are not asked what a script requires that is imported
const resolved = module_._resolveFilename;
module_._resolveFilename = function (name, parent, ...rest) {
  try {
    return resolved.call(this, name, parent, ...rest);
  } catch (error) {
    const file = hooks.found(name, parent && parent.filename);
    if (!file) throw error;
    return file;
  }
};
if (module_.registerHooks) {
  module_.registerHooks({
    resolve(name, context, next) {
      try {
        return next(name, context);
      } catch (error) {
        return hooks.otherwise(name, context, error);
      }
    },
    load: (address, context, next) => hooks.load(address, true) || next(address, context),
  });
} else {
  for (const ending of [".ts", ".tsx", ".cts", ".mts"]) {
    module_._extensions[ending] = (loaded, file) => loaded._compile(hooks.transpiled(file), file);
  }
  const thread = `
    import module from "node:module"; import fs from "node:fs"; import path from "node:path"; import url from "node:url";
    const hooks = (${typed})(module, fs, path, url);
    export async function resolve(name, context, next) {
      try { return await next(name, context); } catch (error) { return hooks.otherwise(name, context, error); }
    }
    export const load = async (address, context, next) => hooks.load(address, false) || next(address, context);`;
  if (module_.register) module_.register("data:text/javascript," + encodeURIComponent(thread));
}
