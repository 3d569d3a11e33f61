// The version of a release. Its tag, package.json, src/kit/version.ts and the changelog have to name the same one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a tag such as `v1.2.3` or `v1.2.3-rc.1`. */
export interface Version {
  /** Without the `v`. */
  text: string;
  major: number;
  minor: number;
  patch: number;
  isPrerelease: boolean;
}

/** @returns undefined if the tag is not `v` and a semantic version. */
export function versionOf(tag: string): Version | undefined {
  const [, text, major, minor, patch, suffix] =
    /^v((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?)$/.exec(tag) ?? [];
  if (text === undefined) return undefined;
  return { text, major: Number(major), minor: Number(minor), patch: Number(patch), isPrerelease: suffix !== undefined };
}

/** Whether one version comes after another, whatever their prereleases are called. */
export const isNewer = (one: Version, other: Version): boolean =>
  (one.major - other.major || one.minor - other.minor || one.patch - other.patch) > 0;

/**
 * The tags that people follow and that a release takes: none of them goes back to an older line, or to a prerelease.
 * `others` are the versions with a tag. npm takes no tag that could be a range of versions, such as `v1.4`.
 */
export function followedTags(version: Version, others: readonly Version[]): { npm: string; image: string[] } {
  const { text, major, minor, isPrerelease } = version;
  if (isPrerelease) return { npm: 'next', image: [text] };
  const newer = others.filter((other) => !other.isPrerelease && isNewer(other, version));
  const ofMajor = newer.filter((other) => other.major === major);
  return {
    npm: newer.length === 0 ? 'latest' : `release-${major}.${minor}`,
    image: [
      text,
      ...(ofMajor.some((other) => other.minor === minor) ? [] : [`${major}.${minor}`]),
      ...(ofMajor.length > 0 ? [] : [String(major)]),
      ...(newer.length > 0 ? [] : ['latest']),
    ],
  };
}

/** The section of a version in a changelog, without its heading; undefined if there is none or it is empty. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => /^\[?([^\s\]]+)/.exec(each)?.[1] === version);
  return section?.slice(section.indexOf('\n') + 1).trim() || undefined;
}

/**
 * What keeps a tag from being released from the repository in `root`, one sentence each; empty if nothing. `repository`
 * is the one on GitHub that releases: npm takes no provenance of another than package.json names.
 */
export function versionProblems(tag: string, root: string, repository?: string): string[] {
  const version = versionOf(tag);
  if (!version) return [`${tag} is not a version. Tag the commit with v and a semantic version, such as v1.2.3.`];
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const named: [file: string, found: string | undefined][] = [
    ['package.json', /^ {2}"version": "([^"]+)"/m.exec(read('package.json'))?.[1]],
    ['package-lock.json', /^ {2}"version": "([^"]+)"/m.exec(read('package-lock.json'))?.[1]],
    ['src/kit/version.ts', /^export const version = '([^']+)'/m.exec(read('src/kit/version.ts'))?.[1]],
  ];
  const wrong = named.filter(([, found]) => found !== version.text);
  const owned = /"url": "git\+https:\/\/github\.com\/([^"]+)\.git"/.exec(read('package.json'))?.[1];
  return [
    ...(repository !== undefined && owned !== repository
      ? [`package.json names the repository ${owned ?? 'of nobody'}, not ${repository}. Change it there.`]
      : []),
    ...wrong.map(
      ([file, found]) => `${file} has the version ${found ?? 'none'}, not ${version.text}. Change it there.`,
    ),
    ...(notesOf(read('CHANGELOG.md'), version.text) === undefined
      ? [`CHANGELOG.md has no section ${version.text}. Rename "Unreleased" to it, with the date.`]
      : []),
  ];
}
