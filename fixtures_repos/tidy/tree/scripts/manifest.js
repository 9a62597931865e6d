"use strict";

const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

/** A file name with eight letters of the content's SHA-256 in it: `app.3f2a91bc.css`. */
function hashFile(file) {
  const digest = crypto.createHash("sha256").update(fs.readFileSync(file)).digest("hex");
  const { name, ext } = path.parse(file);
  return `${name}.${digest.slice(0, 8)}${ext}`;
}

/** Writes the table of original and hashed names that the server reads at start. */
function writeManifest(folder, manifest) {
  const sorted = Object.fromEntries(Object.entries(manifest).sort());
  fs.writeFileSync(path.join(folder, "manifest.json"), JSON.stringify(sorted, null, 2));
}

class ManifestReader {
  #names;

  constructor(folder) {
    this.#names = JSON.parse(fs.readFileSync(path.join(folder, "manifest.json"), "utf8"));
  }

  /** The hashed name of a static file; throws for one that was not built. */
  resolve(name) {
    if (!(name in this.#names)) {
      throw new Error(`${name} was not built`);
    }
    return this.#names[name];
  }
}

module.exports = { ManifestReader, hashFile, writeManifest };
