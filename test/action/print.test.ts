import { afterEach, expect, test, vi } from 'vitest';
import { print } from '../../src/action/report-outcome.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('no printed line is a workflow command', () => {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  print('What to do:\n::set-output name=a::b\r::add-mask::c\nx ##[error]d');
  const lines = written.join('').split(/\r?\n|\r/);
  expect(lines).toEqual(['What to do:', '| ::set-output name=a::b', '| ::add-mask::c', 'x # #[error]d', '']);
});
