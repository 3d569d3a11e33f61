#!/usr/bin/env node
// What `bin` names. It is built for any Node, finds Node 24 and hands over to the command line there.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const needed = 24;
const own = dirname(import.meta.dirname);
const program = join(import.meta.dirname, 'lib', 'cli.js');
const isNew = Number(process.versions.node.split('.')[0]) >= needed;

/** The Node that the package `node` brought, in this package's folder or in one above it. */
function nodeOfPackage(): string | undefined {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (let folder = own; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', 'node', 'bin', name);
    if (existsSync(found)) return found;
    if (dirname(folder) === folder) return undefined;
  }
}

/** In a checkout what is missing is installed first; an installed package has its packages beside it. */
function command(): string[] | undefined {
  const ready = join(own, 'scripts', 'ready.mjs');
  const rest = [program].concat(process.argv.slice(2));
  if (existsSync(ready)) return [process.execPath, ready].concat(rest);
  const node = isNew ? process.execPath : nodeOfPackage();
  return node ? [node].concat(rest) : undefined;
}

const found = command();
if (found) {
  const child = spawn(found[0] ?? process.execPath, found.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
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
  console.error(`landfall needs Node ${needed} or later; this is ${process.version}.`);
  console.error('Install Node 24, or add it to the project: npm install --save-dev node@24');
  process.exit(1);
}
