import { afterEach, describe, expect, test } from 'vitest';
import { followedTags, notesOf, versionOf, versionProblems } from '../../../scripts/release/version.ts';
import { folderOf } from '../../cli/run-cli.ts';

let remove = (): void => {};
afterEach(() => remove());

describe('the version of a tag', () => {
  test('has its parts, and says whether it is a prerelease', () => {
    expect(versionOf('v1.20.3')).toEqual({ text: '1.20.3', major: 1, minor: 20, patch: 3, isPrerelease: false });
    expect(versionOf('v2.0.0-rc.1')).toMatchObject({ text: '2.0.0-rc.1', major: 2, isPrerelease: true });
  });

  test.each(['1.2.3', 'v1', 'v1.2', 'v01.2.3', 'v1.2.3 ', 'v1.2.3;x', 'v1.2.3+b', ''])('refuses %j', (tag) => {
    expect(versionOf(tag)).toBeUndefined();
  });
});

test.each([
  ['v2.0.0', 'latest', ['2.0.0', '2.0', '2', 'latest']],
  ['v1.10.1', 'release-1.10', ['1.10.1', '1.10', '1']],
  ['v1.9.1', 'release-1.9', ['1.9.1', '1.9']],
  ['v1.9.0', 'release-1.9', ['1.9.0']],
  ['v3.0.0-rc.1', 'next', ['3.0.0-rc.1']],
])('%s moves no tag that people follow back', (tag, npm, image) => {
  const tagged = ['v1.9.0', 'v1.9.1', 'v1.10.0', 'v1.10.1', 'v2.0.0', 'v3.0.0-rc.1'].flatMap(
    (each) => versionOf(each) ?? [],
  );
  const [version = expect.fail()] = [versionOf(tag)];
  expect(followedTags(version, tagged)).toEqual({ npm, image });
});

const changelog =
  '# Changelog\n\n## Unreleased\n\n- c\n\n## 1.1.0 (2027-01-01)\n\n- b\n  more\n\n## [1.0.0]\n\n- a\n\n## 0.9.0\n';

test.each([
  ['1.1.0', '- b\n  more'],
  ['1.0.0', '- a'],
  ['1.1', undefined],
  ['0.9.0', undefined],
])('the notes of %s are its section', (version, notes) => {
  expect(notesOf(changelog, version)).toBe(notes);
});

describe('a release', () => {
  const files = (version: string, others: Readonly<Record<string, string>> = {}) => ({
    'package.json': `{\n  "version": "${version}",\n  "url": "git+https://github.com/acme/landfall.git"\n}`,
    'package-lock.json': `{\n  "version": "${version}"\n}`,
    'src/kit/version.ts': `export const version = '${version}';`,
    'CHANGELOG.md': changelog,
    ...others,
  });
  const problems = (tag: string, made: Readonly<Record<string, string>>, repository?: string) => {
    const folder = folderOf(made);
    remove = folder.remove;
    return versionProblems(tag, folder.path, repository);
  };

  test('has one version in its tag, its files and its changelog', () => {
    expect(problems('v1.1.0', files('1.1.0'))).toEqual([]);
  });

  test('is refused with every place that has another version', () => {
    const found = problems('v1.2.0', files('1.1.0', { 'src/kit/version.ts': "export const version = '1.2.0';" }));
    expect(found).toEqual([
      'package.json has the version 1.1.0, not 1.2.0. Change it there.',
      'package-lock.json has the version 1.1.0, not 1.2.0. Change it there.',
      'CHANGELOG.md has no section 1.2.0. Rename "Unreleased" to it, with the date.',
    ]);
  });

  test('is refused where package.json names another repository', () => {
    expect(problems('v1.1.0', files('1.1.0'), 'acme/landfall')).toEqual([]);
    expect(problems('v1.1.0', files('1.1.0'), 'other/landfall')).toEqual([
      'package.json names the repository acme/landfall, not other/landfall. Change it there.',
    ]);
  });

  test('is refused for a tag that is not a version', () => {
    expect(problems('release', files('1.1.0'))).toEqual([expect.stringContaining('release is not a version.')]);
  });
});
