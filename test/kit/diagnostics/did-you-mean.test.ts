import { expect, test } from 'vitest';
import { didYouMean } from '../../../src/kit/diagnostics/did-you-mean.ts';

const known = ['name', 'source', 'repo-url', 'repo-ref', 'build-on-push', 'on-failure'];

test.each<[sentence: string, written: string, meant: string | undefined]>([
  ['a letter too few', 'nam', 'name'],
  ['a letter too many', 'namee', 'name'],
  ['two letters turned around in a long word', 'build-on-psuh', 'build-on-push'],
  ['two letters turned around in a short word', 'nmae', 'name'],
  ['two turned around and one too many', 'soruces', 'source'],
  ['two turns are too many for a short word', 'anem', undefined],
  ['underscores cost nothing', 'build_on_push', 'build-on-push'],
  ['capitals cost nothing', 'Repo-URL', 'repo-url'],
  ['the nearest of two', 'repo-re', 'repo-ref'],
  ['a word that is far from all', 'zebra', undefined],
  ['a short word has one slip only', 'nxyx', undefined],
  ['a novel is not compared', 'n'.repeat(100_000), undefined],
  ['an empty word means nothing', '', undefined],
])('%s', (_, written, meant) => expect(didYouMean(written, known)).toBe(meant));
