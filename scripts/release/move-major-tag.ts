// Moves the tag that workflows follow, such as v1, to a release of that major version.
//   node scripts/release/move-major-tag.ts v1.2.3
import { execFileSync } from 'node:child_process';
import { isNewer, versionOf } from './version.ts';

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' });

const [tag = ''] = process.argv.slice(2);
const version = versionOf(tag);
if (!version) {
  console.error(`${tag} is not a version. Name the tag of a release, such as v1.2.3.`);
  process.exit(1);
}
const floating = `v${version.major}`;
const released = git('ls-remote', '--tags', '--refs', 'origin', `refs/tags/${floating}.*`)
  .split('\n')
  .flatMap((line) => versionOf(line.split('refs/tags/')[1] ?? '') ?? [])
  .filter(({ isPrerelease }) => !isPrerelease);
const newer = released.find((other) => isNewer(other, version));
if (version.isPrerelease) console.log(`${floating} stays: ${tag} is a prerelease.`);
else if (newer) console.log(`${floating} stays: v${newer.text} is newer than ${tag}.`);
else {
  git('push', '--force', 'origin', `${tag}^{commit}:refs/tags/${floating}`);
  console.log(`${floating} is ${tag} now.`);
}
