import { expect, test } from 'vitest';
import { commandNames, commands, usageOf } from '../../../src/deploy/commands/definitions.ts';
import { commandTable, refusalWords } from '../../../src/deploy/commands/words.ts';
import { refusalExamples } from '../../../scripts/command-tables.ts';

test.each(Object.entries(refusalExamples))('the refusal %s says why and what to do', (_, refusal) => {
  const { why, advice } = refusalWords(refusal);
  expect(why).toMatch(/^\S.*[^.\s]$/);
  expect(why).not.toMatch(/undefined|\[object/);
  expect(advice).toMatch(/^[/A-Z].*\.$/);
});

test('the list names every command with its arguments', () => {
  const table = commandTable();
  for (const name of commandNames) expect(table).toContain(`| \`${usageOf(name)}\` | ${commands[name].does} |`);
});
