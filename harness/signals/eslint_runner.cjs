// Runs inside the tools image: lints texts with eslint's Linter. One JSON document in, one out.
// A configuration is data here: no file of the repository is loaded, no plugin, no parser but eslint's own.
"use strict";

const HOME = "/opt/goldseam/eslint/node_modules/";
const { Linter } = require(HOME + "eslint");
const { builtinRules } = require(HOME + "eslint/lib/unsupported-api.js");
const js = require(HOME + "@eslint/js");
const globals = require(HOME + "globals");

const EVERY = ["**/*.{js,jsx,mjs,cjs,ts,tsx}"];
const MOST = 2000;
const EXTENDS = { "eslint:recommended": js.configs.recommended, "eslint:all": js.configs.all };
const ENVIRONMENTS = { es6: "es2015" };

function own(object, key) {
    return Object.prototype.hasOwnProperty.call(object, key);
}

function flat(layer, notes) {
    const common = { files: layer.files || EVERY };
    if (layer.ignores) common.ignores = layer.ignores;
    const found = layer.extends.map(name => ({ ...common, rules: EXTENDS[name].rules }));
    const rules = {};
    for (const [name, value] of Object.entries(layer.rules || {})) {
        if (builtinRules.has(name)) rules[name] = value;
        else notes.add(`rule ${name} is left out`);
    }
    const known = {};
    for (const name of layer.env || []) {
        const key = own(ENVIRONMENTS, name) ? ENVIRONMENTS[name] : name;
        if (own(globals, key)) Object.assign(known, globals[key]);
        else if (!/^es(6|20\d\d)$/.test(name)) notes.add(`env ${name} is left out`);
    }
    Object.assign(known, layer.globals || {});
    const features = (layer.parserOptions || {}).ecmaFeatures || {};
    const parserOptions = { ecmaFeatures: { ...features } };
    found.push({ ...common, rules, languageOptions: { globals: known, parserOptions } });
    return found;
}

function told(one) {
    try {
        return lint(one);
    } catch (error) { // options that a rule refuses, say
        return { error: String(error.message).trim().replace(/\s+/g, " ").slice(0, 200) };
    }
}

function lint(one) {
    const notes = new Set();
    const linter = new Linter({ configType: "flat", cwd: "/" });
    const base = {
        files: EVERY,
        linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "off" },
        languageOptions: { ecmaVersion: "latest", parserOptions: { ecmaFeatures: { jsx: true } } },
    };
    const layers = one.layers.flatMap(layer => flat(layer, notes));
    const types = one.path.endsWith(".cjs") ? ["commonjs"] : ["module", "commonjs", "script"];
    let said = [];
    for (const sourceType of types) { // a file is what it can be read as
        const last = { files: EVERY, languageOptions: { sourceType } };
        said = linter.verify(one.text, [base, ...layers, last], { filename: "/" + one.path });
        if (!said.some(message => message.fatal)) break;
    }
    const fatal = said.find(message => message.fatal);
    const found = said.filter(message => message.ruleId || message.fatal).slice(0, MOST);
    return {
        fatal: fatal ? String(fatal.message).slice(0, 200) : "",
        notes: [...notes],
        found: found.map(message => ({
            rule: message.ruleId || "invalid-syntax",
            line: message.line || 0,
            message: String(message.message).slice(0, 300),
        })),
    };
}

let given = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", chunk => { given += chunk; });
process.stdin.on("end", () => process.stdout.write(JSON.stringify(JSON.parse(given).map(told))));
