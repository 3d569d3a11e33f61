import { expect, test } from 'vitest';
import { usualDataFolder } from '../../../src/services/control/data-folder.ts';

test('a clone keeps its data in its working directory', () => {
  expect(usualDataFolder({ HOME: '/home/ada', XDG_DATA_HOME: '/data' })).toBe('.landfall');
});

test.each([
  ['the folder that the system has for data', { HOME: '/home/ada', XDG_DATA_HOME: '/data' }, '/data/landfall'],
  ['the usual one of the home', { HOME: '/home/ada' }, '/home/ada/.local/share/landfall'],
])('the package keeps its data in %s', (_, env, folder) => {
  expect(usualDataFolder(env, '/app/node_modules/landfall/bin/lib/cli.js')).toBe(folder);
});
