// Makes what a release publishes: the npm package, the notes of its version, and the checksums.
//   node scripts/release/make.ts v1.2.3 FOLDER
// On GitHub it also sets the outputs `version`, `npm-tag`, `prerelease`, `image` and `image-tags` of its step.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { followedTags, notesOf, versionOf, versionProblems, type Version } from './version.ts';

const root = dirname(dirname(import.meta.dirname));

/** The lines of `sha256sum` for the files of a folder, which `sha256sum --check` reads. */
function checksumsOf(folder: string): string {
  const names = readdirSync(folder).toSorted();
  const digest = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return names.map((name) => `${digest(name)}  ${name}\n`).join('');
}

/** Outputs for the later jobs. Names of images are in lower case. */
function outputsOf(version: Version, repository: string): string {
  const tagged = execFileSync('git', ['tag', '--list', 'v*'], { cwd: root, encoding: 'utf8' }).split('\n');
  const tags = followedTags(
    version,
    tagged.flatMap((name) => versionOf(name) ?? []),
  );
  const image = `ghcr.io/${repository.toLowerCase()}`;
  const outputs = {
    version: version.text,
    'npm-tag': tags.npm,
    prerelease: String(version.isPrerelease),
    image,
    'image-tags': tags.image.map((tag) => `${image}:${tag}`).join(','),
  };
  return Object.entries(outputs)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

const { GITHUB_OUTPUT: outputs, GITHUB_REPOSITORY: repository } = process.env;
const [tag = '', given] = process.argv.slice(2);
const folder = resolve(given ?? '');
const problems =
  given === undefined
    ? ['Name the tag and a folder: make.ts v1.2.3 FOLDER.']
    : [
        ...versionProblems(tag, root, repository),
        ...(existsSync(folder) ? [`${given} exists. Name a new folder: all that is in it is published.`] : []),
      ];
const version = versionOf(tag);
if (problems.length > 0 || !version) {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}
const assets = join(folder, 'assets');
mkdirSync(assets, { recursive: true });
// Standard output of the build that npm runs first is no result.
execFileSync('npm', ['pack', '--pack-destination', assets], { cwd: root, stdio: ['ignore', 2, 2] });
writeFileSync(join(assets, 'SHA256SUMS'), checksumsOf(assets));
writeFileSync(join(folder, 'notes.md'), `${notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version.text)}\n`);
if (outputs && repository) appendFileSync(outputs, outputsOf(version, repository));
for (const name of readdirSync(assets)) console.log(join(assets, name));
