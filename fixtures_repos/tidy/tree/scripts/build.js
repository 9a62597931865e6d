#!/usr/bin/env node
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { hashFile, writeManifest } = require("./manifest");

const OUTPUT = path.join(__dirname, "..", "dist");

/** Options of the build, from the command line. */
function parseFlags(argv) {
  return {
    minify: argv.includes("--minify"),
    watch: argv.includes("--watch"),
  };
}

/** Copies static files and gives each a name with its hash, so that browsers may cache them for ever. */
function copyStatic(source) {
  const manifest = {};
  for (const name of fs.readdirSync(source)) {
    const hashed = hashFile(path.join(source, name));
    fs.copyFileSync(path.join(source, name), path.join(OUTPUT, hashed));
    manifest[name] = hashed;
  }
  return manifest;
}

function main() {
  const flags = parseFlags(process.argv.slice(2));
  fs.mkdirSync(OUTPUT, { recursive: true });
  writeManifest(OUTPUT, copyStatic("static"));
  if (flags.watch) {
    fs.watch("static", () => writeManifest(OUTPUT, copyStatic("static")));
  }
}

if (require.main === module) {
  main();
}

module.exports = { copyStatic, parseFlags };
