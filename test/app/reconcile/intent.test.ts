import { expect, test } from 'vitest';
import { requestAfter, requestForHead } from '../../../app/reconcile/deploy-request.ts';
import type { Intent } from '../../../app/reconcile/intent.ts';
import { anIntent } from '../an-intent.ts';
import { commitOf, start } from './requests.ts';

const [a, b] = [commitOf('a'), commitOf('b')];

test.each<[what: string, sending: Intent['sending'], repoRef: string]>([
  ['the ref that was sent', { kind: 'restate', repoRef: 'refs/heads/main' }, 'refs/heads/main'],
  ['the branch, where an old revision was sent', { kind: 'redeploy', revisionId: 'r1' }, 'main'],
])('a request for the head restates %s', (_, sending, repoRef) => {
  const intent = anIntent('requested', { id: 'former', commit: a, sending });
  const request = {
    deploymentId: intent.deploymentId,
    repository: intent.repository,
    branch: intent.branch,
    terms: intent.terms,
    commit: b,
    sending: { kind: 'restate', repoRef },
    cause: { kind: 'push', key: 'once', at: start },
  };
  expect(requestForHead(intent, b, 'once', start)).toEqual(request);
  expect(requestAfter(intent, b, start)).toEqual({ ...request, cause: { ...request.cause, key: 'after-former' } });
});
