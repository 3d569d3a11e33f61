import * as z from 'zod';
import { maxIdleSeconds, minIdleSeconds, type IdleAfter } from '../../contract/control/deployment.ts';
import { deploymentNameProblem } from '../../contract/control/field-values.ts';
import { isObject } from '../../kit/json-object.ts';
import type { ResourceSpec } from '../../contract/control/resource-spec.ts';
import { writtenConversations, type ConversationTerms } from './conversations.ts';
import { secretNames, type SecretName } from './secret-names.ts';
import type { SmokeTest } from './smoke-test.ts';
import { writtenResources } from './written-resources.ts';
import { writtenSmokeTests } from './written-smoke-test.ts';
import { duration, ruled } from './written-text.ts';

const dayMs = 24 * 3_600_000;
const maxPreviews = 100;
const maxLabelLength = 50;

const label = z
  .string()
  .trim()
  .min(1)
  .max(maxLabelLength)
  .regex(/^[^\p{Cc}]*$/u, 'must be one line');

/** A file of cases is read for the deployment's own tests alone. */
const smokeTests = z
  .array(z.unknown())
  .superRefine((tests, context) => {
    for (const [index, test] of tests.entries()) {
      if (!isObject(test) || !('cases' in test)) continue;
      const message = 'is for the smoke tests of the deployment: without tests of their own, previews have those';
      context.addIssue({ code: 'custom', path: [index, 'cases'], message });
    }
  })
  .pipe(writtenSmokeTests);

const written = z.strictObject({
  when: z.union([z.enum(['always', 'command']), z.strictObject({ label })]).default('always'),
  name: ruled(z.string().trim().min(1), (name) => {
    const problem = deploymentNameProblem(name);
    return problem && `must be as the name of a deployment: it ${problem}`;
  }).exactOptional(),
  secrets: secretNames.default([]),
  'fork-secrets': secretNames.default([]),
  'resource-spec': writtenResources.exactOptional(),
  'smoke-tests': smokeTests.exactOptional(),
  conversations: writtenConversations.exactOptional(),
  'idle-after': z.union([z.literal('never'), duration(minIdleSeconds * 1_000, maxIdleSeconds * 1_000)]).prefault('30m'),
  'expires-after': duration(60_000, 90 * dayMs).prefault('7d'),
  max: z.int().min(1).max(maxPreviews).default(10),
});

/** What the deploy file says of the previews of a deployment. */
export interface PreviewTerms {
  /** When a pull request gets one: at each push, with a label of this name, or once a person requests it. */
  when: 'always' | 'command' | { label: string };
  /** What its name begins with; absent: the name of the deployment. */
  name?: string;
  /** The only secrets it gets. */
  secrets: readonly SecretName[];
  /** The only ones of a pull request from a fork. */
  forkSecrets: readonly SecretName[];
  /** Laid over the smallest scale. */
  resourceSpec?: ResourceSpec;
  /** Absent: those of the deployment. */
  smokeTests?: readonly SmokeTest[];
  /** Conversations of the deployment that are copied to it and tried there; absent: none. */
  conversations?: ConversationTerms;
  /** Its agent is scaled to zero so long after its last request; absent in what was stored before there was this. */
  idleAfter?: IdleAfter;
  /** It is removed so long after its last change (ms). */
  expiresAfterMs: number;
  /** How many there are of the deployment at once. */
  max: number;
}

/** `true` takes the defaults, and `false` is the same as nothing. */
const preview = z.union([z.boolean(), written]).transform((read): PreviewTerms | undefined => {
  if (read === false) return undefined;
  const {
    'fork-secrets': forkSecrets,
    'resource-spec': resourceSpec,
    'smoke-tests': smokeTests,
    'idle-after': idleAfter,
    'expires-after': expiresAfterMs,
    ...terms
  } = read === true ? written.parse({}) : read;
  return {
    ...terms,
    forkSecrets,
    ...(resourceSpec === undefined ? {} : { resourceSpec }),
    ...(smokeTests === undefined ? {} : { smokeTests }),
    idleAfter: idleAfter === 'never' ? idleAfter : Math.ceil(idleAfter / 1_000),
    expiresAfterMs,
  };
});

/** What the deploy file may say of previews. This is no input of the Action. */
export const previewFields = z.object({ preview: preview.exactOptional() });
