import { expect, test } from 'vitest';
import { asSentence } from '../../src/kit/plain-text.ts';
import { nextCursor } from '../../app/github/deliveries.ts';
import { explainLoading } from '../../src/services/agent/graphs/javascript/import-error.ts';
import { loggedHeaders } from '../../src/services/agent/http/header-rules.ts';
import { masksOf } from '../../src/action/run.ts';
import { readErrorBody } from '../../src/client/attempt-failure.ts';
import { strictMaskOf, maskOf } from '../../src/contract/masking/mask.ts';
import { globMatcher } from '../../src/deploy/file/glob-matcher.ts';
import { readAddress } from '../../src/kit/base-address.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import { clusterProblem, describeEvent } from '../../src/services/control/compute/kubernetes-messages.ts';
import { outputExcerpt } from '../../src/services/control/compute/output-excerpt.ts';
import { plainLine } from '../../src/services/control/compute/output-lines.ts';
import { repositoryAt } from '../../src/services/control/integrations/github-app.ts';
import { asLabel, baseName } from '../../src/services/control/kubernetes/manifest.ts';
import { readChallenge } from '../../src/services/control/registry/registry.ts';
import { readRepoUrl } from '../../src/services/control/deployments/validation/repo-url.ts';
import { untouchedPaths } from '../../src/deploy/rules/trigger.ts';
import { sameRepository } from '../../src/deploy/file/repository-url.ts';
import {
  asCode,
  asCodeBlock,
  asLine,
  asLink,
  asLogLine,
  asMarkdown,
  jsonWithoutCommands,
  withoutCommands,
} from '../../src/deploy/words/sanitize.ts';
import { cpuOf } from './cpu.ts';

const size = 300_000;
/** Characters of a line of output that are kept. */
const longestLine = 16_384;

const secrets = ['hunter2-hunter2', 'aaaaaaaab', `-----BEGIN KEY-----\n${'MIIB'.repeat(400)}\n-----END KEY-----`, 'x'];
const hide = maskOf(secrets);
const hideShort = strictMaskOf(secrets);
const matchesGlobs = ['**/*a*/**/*a*b', '{a,aa}*{a,aa}*b', '**/?[!a]*x'].map(globMatcher);
const byLine = (use: (line: string) => unknown) => (text: string) => {
  for (let at = 0; at < text.length; at += longestLine) use(text.slice(at, at + longestLine));
};
/** Enough of a text for what is not quick with a plain one either; its end stays, which may keep a pattern from success. */
const lastOf = (text: string): string => text.slice(-100_000);
const headersOf = loggedHeaders({ includes: ['*a*a*a*a*b', 'x-*-*-*-y'] });
const refusal = (detail: string): ServiceError =>
  new ServiceError({
    kind: 'missing',
    operation: 'read',
    status: 404,
    method: 'GET',
    address: 'https://cluster',
    effect: 'none',
    detail,
    problems: [],
  });

/** Where text of others goes through patterns, loops and comparisons. */
const sinks: Record<string, (text: string) => unknown> = {
  asLine,
  asLogLine,
  asMarkdown,
  asCode,
  asLink: (text) => asLink(`https://agent.example/${text}`),
  'asCodeBlock of one line': (text) => asCodeBlock([text]),
  'asCodeBlock of many lines': (text) => asCodeBlock(text.split('x')),
  withoutCommands,
  jsonWithoutCommands,
  'a line of output': byLine(plainLine),
  'the last words of a process': byLine((line) => outputExcerpt().add('error', line)),
  'a mask': (text) => hide(lastOf(text)),
  'a mask of cut lines': (text) => byLine((line) => hide(line, { cut: true }))(lastOf(text)),
  'a mask of short secrets': (text) => hideShort(lastOf(text)),
  'a secret of the Action': (text) => byLine((line) => masksOf([line]))(lastOf(text)),
  'the body of an error': (text) => readErrorBody(text, hide),
  'a web page as an error': (text) => readErrorBody(`<html>${text}`, hide),
  'an address': (text) => readAddress(`https://host/a${text}`),
  'two repositories': (text) => sameRepository(`https://host/a${text}`, `git@host:a${text}`),
  'a repository to clone': (text) => readRepoUrl(text, []),
  'a repository of GitHub': (text) =>
    repositoryAt('https://github.com', `https://github.com/a${text.slice(0, 100_000)}`),
  'a refusal of a cluster': (text) => clusterProblem(refusal(text), 'https://cluster', 'default'),
  'an event of a cluster': (text) => describeEvent({ reason: 'Failed', message: text, type: '' }),
  'a sentence of a listener': asSentence,
  'a label': asLabel,
  'the name of an object': (text) => baseName({ name: text, id: text }),
  'a path of a glob': (text) => matchesGlobs.map((matches) => matches(text.slice(0, 100_000))),
  'changed paths': (text) =>
    untouchedPaths(
      { include: ['**/*a*/**/*a*b', `**/${'?'.repeat(190)}b`], exclude: [] },
      { kind: 'known', paths: Array.from({ length: 3_000 }, (_, at) => text.slice(at, at + 400)) },
    ),
  'a challenge of a registry': (text) => readChallenge(`Bearer realm="a",${text}`),
  'a link to the next page': nextCursor,
  'the name of a header': (text) =>
    headersOf(
      new Headers([
        [
          text
            .toLowerCase()
            .replace(/[^a-z-]/g, 'a')
            .slice(0, 16_384),
          'x',
        ],
      ]),
    ),
  'an error of an import': (text) => explainLoading(new Error(text), 'graph "graph"', '/agent/graph.ts', '/agent'),
};

/** What makes a pattern try again at each character, with what keeps it from an early success at the end. */
const worst = [
  ' ',
  ' x',
  '\t',
  '\r',
  '\n',
  ' \n',
  '/',
  '.',
  '-',
  '#',
  '\\',
  '%',
  '%4',
  '%41',
  '%ff',
  '&',
  '&#',
  '&amp;',
  '`',
  '"',

  "'",
  '(',
  '@',
  '=',
  ':',
  ':1',
  ',',
  'a',
  'a.',
  'a-',
  'A ',
  '0',
  '\u001b',
  '\u001b]',
  '\u001b[',
  '\u001b[0;',
  '\u009b',

  '\\u0041',
  '\\"',
  '<title',
  '<title>',
  '; rel="next"',
  '<',
  ', Bearer ',
  'http:',
  ' https:',
  '##[',
  '\u200b',
  '\u0085',
  'aaaa',
  'hunter2',
  'MIIB',
  'namespaces ',
  'maximum ',
  ' could not be ',
  '::',
  `${'\r'.repeat(16_383)}x`,
  'www.',
].map((unit) => `${unit.repeat(Math.ceil(size / unit.length)).slice(0, size)}x`);

const plain = 'the quick brown fox jumps over the lazy dog and all is well '.repeat(size / 60);

test.each(Object.keys(sinks))('%s takes time in proportion to the text', (name) => {
  const sink = sinks[name];
  if (!sink) throw new Error('no such sink');
  sink(plain);
  const allowed = 40 * cpuOf(() => sink(plain));
  const slow = worst.map((text) => ({ text, cpu: cpuOf(() => sink(text), 1) })).filter(({ cpu }) => cpu > allowed);
  // A pause of the collector falls on one text by chance and not on the same one again.
  const again = slow.filter(({ text }) => cpuOf(() => sink(text)) > allowed);
  expect(again.map(({ text }) => text.slice(0, 20))).toEqual([]);
});
