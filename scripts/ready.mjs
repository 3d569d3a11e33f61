// Runs a program of the project under Node 24, on a clone with nothing installed as well: what is missing is
// installed first. Plain JavaScript that any Node from 20 on can run, because it is what finds Node 24.
//
//   node scripts/ready.mjs src/demo/main.ts --keep
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** npm writes its record of installed packages last; installation is complete if that covers the lock file. */
function isInstalled() {
  const written = join(modules, '.package-lock.json');
  if (!existsSync(written)) return false;
  const there = readJson(written).packages;
  return Object.entries(readJson(join(root, 'package-lock.json')).packages).every(
    ([path, { version, optional }]) => path === '' || optional || there[path]?.version === version,
  );
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Two scripts that start at once on a new clone must not install into one folder side by side. */
async function withLock(action) {
  const lock = join(root, '.installing');
  for (let waited = 0; ; waited += 1) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const holder = Number(existsSync(lock) ? readFileSync(lock, 'utf8') : 0);
      if (holder > 0 && !isRunning(holder)) rmSync(lock, { force: true });
      else {
        if (waited === 1) console.error(`Waiting for process ${holder}, which installs the packages here ...`);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    }
  }
  try {
    return action();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** @returns whether all that is wanted is there now. */
function install() {
  if (isInstalled()) return true;
  console.error('Installing dependencies (first start only, 1–3 minutes) ...');
  const { npm_execpath: runner = '' } = process.env;
  const npm = runner.endsWith('npm-cli.js') ? runner : undefined;
  const command = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const [program, args] = npm ? [process.execPath, [npm, ...command]] : ['npm', command];
  // Standard output belongs to the program that runs afterwards: its JSON output may be piped.
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: !npm && process.platform === 'win32',
  });
  if (status === 0) return true;
  console.error(`npm ci did not succeed (${error?.message ?? `exit code ${status}`}).`);
  console.error('What to check: a network path to the npm registry, free disk space, and write access to this folder.');
  return false;
}

/** Node 24 of the devDependency; where install scripts are switched off, the running Node if it is new enough. */
function node24() {
  const own = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(own)) return own;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  console.error(
    `Landfall needs Node 24; this is ${process.version} and the package "node" did not install its binary.`,
  );
  console.error('Let npm run install scripts (npm config get ignore-scripts), remove node_modules and try again.');
  process.exit(1);
}

if (!isInstalled()) {
  // npm prepares a package also where it leaves out what building needs: there is nothing to prepare then.
  if (process.env.npm_lifecycle_event === 'prepare') process.exit(0);
  if (!(await withLock(install))) process.exit(1);
}
const node = node24();
const environment = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
const child = spawn(node, process.argv.slice(2), { stdio: 'inherit', env: environment });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
if (process.env.npm_lifecycle_event !== undefined) {
  // npm forwards a signal to its shell, which exits without forwarding it: stop the program when the parent is gone.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
}
child.on('error', (error) => {
  console.error(`${node} could not be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal) process.removeAllListeners(signal);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});
