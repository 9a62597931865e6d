#!/usr/bin/env node
/** Finds links in the handbook that lead nowhere. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const LINK = /\[[^\]]*\]\(([^)#\s]+)[^)]*\)/g;

/** Targets of relative links that do not exist. */
export function brokenLinks(file) {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(LINK)]
    .map((match) => match[1])
    .filter((target) => !target.includes("://"))
    .filter((target) => !existsSync(resolve(dirname(file), target)));
}

const broken = process.argv.slice(2).flatMap((file) => brokenLinks(file).map((link) => `${file}: ${link}`));
if (broken.length > 0) {
  console.error(broken.join("\n"));
  process.exitCode = 1;
}
