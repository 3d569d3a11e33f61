import { expect, test } from 'vitest';
import { keylessAdvice } from '../../src/client/exchange-token.ts';
import { ServiceError, type ServiceErrorKind } from '../../src/contract/service-error.ts';

const refusal = (kind: ServiceErrorKind, status: number): ServiceError =>
  new ServiceError({ kind, status, operation: 'exchange token', method: 'POST', address: 'here', effect: 'none' });

test.each<[what: string, error: Error, advice: string]>([
  ['a used or expired token', refusal('unauthorized', 401), 'Request another token'],
  ['an issuer or a claim that is not trusted', refusal('unauthorized', 403), '(--oidc-issuer) and trust its claims'],
  ['a service without the exchange', refusal('missing', 404), 'exchanges no tokens'],
  ['an issuer that does not answer', refusal('busy', 502), 'try again'],
  ['another error', new Error('no'), 'Check base-url'],
])('advises on %s', (_, error, advice) => {
  expect(keylessAdvice(error)).toContain(advice);
});
