#!/usr/bin/env node
// What `bin` names. It runs on any Node, finds Node 24, and starts the command line there: in a checkout from its
// sources, after installing what is missing; in a package from the built files that were packed with it.
'use strict';
const { spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const required = 24;
const root = path.dirname(__dirname);

/** The Node of the package `node`, in this package's folder or in one above it. */
function nodeOfPackage() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (let folder = root; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'node_modules', 'node', 'bin', name);
    if (existsSync(found)) return found;
    if (path.dirname(folder) === folder) return undefined;
  }
}

function command() {
  const ready = path.join(root, 'scripts', 'ready.mjs');
  const args = process.argv.slice(2);
  if (existsSync(ready)) return [process.execPath, ready, path.join(root, 'src', 'cli', 'main.ts'), ...args];
  const isNew = Number(process.versions.node.split('.')[0]) >= required;
  const node = isNew ? process.execPath : nodeOfPackage();
  return node && [node, path.join(__dirname, 'lib', 'cli.js'), ...args];
}

const found = command();
if (found && !existsSync(found[1])) {
  console.error('The command line of this package was not built, because it was installed without running scripts.');
  console.error('Install it again with scripts allowed: npm install --ignore-scripts=false');
  process.exit(1);
} else if (found) {
  const child = spawn(found[0], found.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`landfall could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code === null ? 1 : code);
  });
} else {
  console.error(`landfall needs Node ${required} or later; this is ${process.version}.`);
  console.error('Install Node 24, or add it to the project: npm install --save-dev node@24');
  process.exit(1);
}
