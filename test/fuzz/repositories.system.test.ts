// Builds hostile repositories as a deployment's user, beside files of the service that must stay unread and unchanged.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cleanUp } from '../../src/services/control/builds/build-folder.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { killProcessesOf } from '../../src/services/control/compute/process-family.ts';
import { workplace } from '../services/control/builds/building.ts';
import { commitRaw, type RawPath } from '../services/control/builds/loose-objects.ts';
import { packageHost } from '../services/control/builds/package-host.ts';
import { graphConfig, plainAgent, write, writePrograms, type Files } from '../services/control/builds/repositories.ts';
import { randomNumbers, type Random } from './random-numbers.ts';

const cases = Number(process.env['LANDFALL_FUZZ'] ?? 6);
const seed = Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1);
/** Far more than a busy machine needs. */
const withinMs = 60_000 + 30_000 * cases;

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

/** Where this run is root a deployment's builds have a user of their own; else all of it holds for the one there is. */
const number = randomInt(1_700_000_000, 1_800_000_000);
const user = process.geteuid?.() === 0 ? { uid: number, gid: number } : undefined;
const canary = 'canary-of-the-service';

/** What an install script does: links in the place of what the service reads, moves and removes, and what is no file. */
const commands = (outside: string): string[] => [
  'mkdir -p node_modules/dep && echo x > node_modules/dep/index.js',
  `mkdir -p node_modules && ln -s ${outside} node_modules/linked`,
  `rm -rf node_modules; ln -s ${outside} node_modules`,
  'mkdir -p node_modules/dep && mkfifo node_modules/dep/pipe',
  'rm -f package.json; mkfifo package.json',
  'rm -f langgraph.json; mkfifo langgraph.json',
  `rm -f langgraph.json; ln -s ${outside}/secret.json langgraph.json`,
  `for each in *; do mv "$each" "$TMPDIR/"; ln -s ${outside} "$each"; done`,
  `rm -rf "$HOME" "$TMPDIR"; ln -s ${outside} "$HOME"; ln -s ${outside} "$TMPDIR"`,
  `ln -s ${outside} "$TMPDIR/link"; ln -s ${outside} "$HOME/.npm"; ln -s ${outside}/secret.json "$HOME/.npmrc"`,
  `ln -s ${outside} "$npm_config_cache/_cacache"; ln -s ${outside} "$npm_config_cache/entry.json"`,
  `rm -rf ../stage ../source; ln -s ${outside} ../source; ln -s ${outside} ../stage.own`,
  'mkdir -p closed/below && chmod 000 closed/below && chmod 000 closed',
  'mkdir -p node_modules/closed && echo x > node_modules/closed/x && chmod 000 node_modules/closed',
  'd=x; for i in 1 2 3 4 5 6; do d=$d/$d; mkdir -p "$d" || break; done',
  "mkdir -p 'node_modules/new\nline' 'node_modules/..like' 'node_modules/-rf'",
  "printf 'node_modules/\\377' | xargs mkdir -p",
  'mkdir -p node_modules/a && ln node_modules/a ../hard; echo x > node_modules/f; ln node_modules/f node_modules/a/g',
  `(while :; do mkdir -p node_modules/s/d; mv node_modules/s node_modules/t; ln -s ${outside} node_modules/s; rm node_modules/s; mv node_modules/t node_modules/s; done) >/dev/null 2>&1 &`,
  `setsid sh -c 'cd "$HOME" || exit; while :; do mkdir -p s/d; mv s t; ln -s ${outside} s; rm s; mv t s; done' >/dev/null 2>&1 &`,
  'printf "%s\\n" "\\033]0;x\\007" "::add-mask::x"',
  'exit 3',
  'kill -s KILL $$',
];

/** Names that mean something to git, to a package manager or to us, and such as no file should have. */
const names = [
  'package.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  '.npmrc',
  '.yarnrc.yml',
  'pnpm-workspace.yaml',
  '.pnpmfile.cjs',
  'bunfig.toml',
  'binding.gyp',
  'langgraph.json',
  'graph.js',
  'build.json',
  '.yarn',
  'releases',
  'plugins',
  'patches',
  'node_modules',
  'packages',
  'a',
  'A',
  'tmp',
  'home',
  'source',
  'dep',
  '.git',
  '.GIT',
  'git~1',
  '.gitmodules',
  '.gitattributes',
  '.lfsconfig',
  '.git\u200c',
  'hooks',
  'config',
  'HEAD',
  '..',
  '.',
  '...',
  '.. ',
  '..\\x',
  '-rf',
  '$(touch x)',
  'new\nline',
  'tab\tx',
  '\u001b[31m',
  '\u00e9',
  'e\u0301',
  'n'.repeat(255),
  'n'.repeat(256),
  '__proto__',
  'constructor',
  ' ',
  'a/b',
  Buffer.from([0xff, 0xfe, 0x2e]),
  Buffer.from([0xc3, 0x28]),
];

/** How many of them, from the first on, every git checks out. */
const plainNames = 26;

function hostilePath(random: Random, outside: string, some: typeof names): RawPath {
  const deep = random.below(60) === 0 ? 900 : random.below(4);
  const links = ['.', '..', '/', '/dev/zero', '/proc/self/environ', 'a', 'A/../..', '.git/config', 'x'.repeat(5_000)];
  const contents = [
    graphConfig,
    `{"graphs":{"echo":"${random.pick(['./graph.js:graph', '../outside/x.js:graph', `${outside}/x.js:g`, 'a:b:c', '\\u0000:x'])}"}}`,
    '{"workspaces":["a","packages/*","../*","/"]}',
    '{"name":"x","scripts":{"postinstall":"exit 1"},"dependencies":{"dep":"file:../../.."}}',
    '{"packageManager":"pnpm@9.0.0","name":"agent"}',
    'packages:\n  - "**"\n  - "../**"\n',
    '__metadata:\n',
    'nodeLinker: node-modules\nyarnPath: ../../../x.cjs\n',
    '* filter=evil diff=evil text eol=crlf working-tree-encoding=UTF-16\n',
    `[submodule "x"]\n\tpath = a\n\turl = ext::touch ${outside}/planted\n`,
    `gitdir: ${outside}\n`,
    `cache=${outside}\nprefix=${outside}\nscript-shell=${outside}/x\n`,
    '{'.repeat(5_000),
    '',
    random.bytes(random.below(300)),
  ];
  const path = [...Array.from({ length: deep }, () => random.pick(some)), random.pick(some)];
  if (random.below(3) === 0) {
    const content = random.pick([outside, `${outside}/secret.json`, `${outside}/node_modules`, ...links]);
    return { names: path, mode: '120000', content };
  }
  const mode = random.pick(['100644', '100644', '100755', '160000'] as const);
  return { names: path, mode, content: random.pick(contents) };
}

/** A repository that would be built but for what is added; what is added later takes the place of what was there. */
function hostileRepository(random: Random, outside: string, base: Files): RawPath[] {
  const sound = Object.entries(base).map(([path, content]) => ({
    names: path.split('/'),
    mode: '100644' as const,
    content,
  }));
  // git refuses most of the odd names, and nothing else of such a repository is tried.
  const some = random.below(4) === 0 ? names : names.slice(0, plainNames);
  return [...sound, ...Array.from({ length: random.below(10) }, () => hostilePath(random, outside, some))];
}

/** Every file below a folder that holds the canary. Links and what is no file are not read. */
function holding(folder: string): string {
  const { status, stdout, stderr } = spawnSync('grep', ['-rlaF', '-D', 'skip', canary, folder], { encoding: 'utf8' });
  return status === 1 ? '' : `${stdout}${stderr}`;
}

test(
  `${cases} hostile repositories end built or refused, and do not touch the service`,
  async () => {
    const here = workplace(plainAgent, atTheEnd);
    chmodSync(here.root, 0o711);
    const outside = join(here.root, 'outside');
    const kept = { 'secret.json': `"${canary}`, 'node_modules/kept/index.js': canary, 'releases/x.cjs': canary };
    write(outside, kept);
    chmodSync(outside, 0o700);
    const state = (): string[] =>
      ['', ...readdirSync(outside, { recursive: true, encoding: 'utf8' })].toSorted().map((path) => {
        const { uid, mode, size, mtimeMs, nlink } = lstatSync(join(outside, path));
        return [path, uid, mode, size, mtimeMs, nlink].join(' ');
      });
    const before = state();
    const ends = { built: 0, failed: 0, interrupted: 0 };

    for (let number = 0; number < cases; number += 1) {
      const random = randomNumbers(seed * 100_003 + number);
      const script = Array.from({ length: 1 + random.below(4) }, () => random.pick(commands(outside))).join('\n');
      const tool = `#!/bin/sh\nif [ "$1" = --version ]; then echo 1.2.3; exit 0; fi\n${script}\n`;
      const programs = writePrograms(join(here.root, `bin-${number}`), { pnpm: tool, yarn: tool, bun: tool });
      const byNpm = number % 6 === 5;
      const host = byNpm ? await packageHost(`cd "$INIT_CWD"\n${script}`, atTheEnd) : undefined;
      const locks = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock'];
      const base = {
        ...plainAgent,
        'package.json': '{"name":"agent"}',
        ...(host?.files ?? { [random.pick(locks)]: '', '.yarnrc.yml': 'nodeLinker: node-modules\n' }),
      };
      const repo = join(here.allowed, `hostile-${number}`);
      commitRaw(repo, hostileRepository(random, outside, base));
      here.lines.length = 0;
      const end = await here.tryBuild({
        request: {
          repoUrl: repo,
          revisionId: `r-${number}`,
          user,
          ...(random.below(4) === 0 ? { buildCommand: script } : {}),
        },
        settings: { env: { PATH: `${programs}:${process.env.PATH}` }, bounds: { installMs: 30_000, buildMs: 30_000 } },
      });

      ends[end.kind] += 1;
      // What the one user that there is can read, npm can print without the service.
      const reported = user || !byNpm ? [...here.lines, end.kind === 'failed' ? end.reason : ''] : [];
      const running = user ? await killProcessesOf(new Set([user.uid]), systemClock) : 0;
      const found = holding(here.dataDir);
      const reports: string[] = [];
      if (end.kind === 'built') await cleanUp(end.build.folder, (message) => reports.push(message));
      expect({
        of: `repository ${number} of seed ${seed}`,
        isClear: end.kind === 'built' || (end.kind === 'failed' && /^(?!.*\n\s+at )\S.{20,}/s.test(end.reason)),
        state: state(),
        reported: reported.filter((line) => line.includes(canary)),
        found,
        running,
        isLeft: existsSync(join(here.dataDir, `builds/r-${number}`)),
        reports,
      }).toEqual({
        of: `repository ${number} of seed ${seed}`,
        isClear: true,
        state: before,
        reported: [],
        found: '',
        running: 0,
        isLeft: false,
        reports: [],
      });
      for (const made of [repo, programs]) rmSync(made, { recursive: true, force: true });
    }
    expect(ends.built).toBeGreaterThan(0);
    expect(ends.failed).toBeGreaterThan(0);
  },
  withinMs,
);
