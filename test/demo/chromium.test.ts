import { expect, test } from 'vitest';
import { chromiumObstacle } from '../../src/demo/chromium.ts';

test.each([
  ['darwin', 'arm64'],
  ['win32', 'x64'],
  ['linux', 'arm64'],
])('says why there is no browser on %s %s', (platform, arch) => {
  expect(chromiumObstacle(platform, arch)).toContain('only for Linux x64');
});

test('is tried where its packages are installed', () => {
  expect(chromiumObstacle('linux', 'x64')).toBeUndefined();
});
