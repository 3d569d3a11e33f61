import * as z from 'zod';
import type { Prices, SmokeTest } from './smoke-test.ts';
import { refusedInCommand, graphConfigPathProblem, imageUriProblem } from '../../contract/control/field-values.ts';
import { dnsLabel } from '../../contract/control/container.ts';
import { readWrittenRef } from '../../contract/control/repo-ref.ts';
import { secretReference } from '../../contract/control/secret.ts';
import { deploymentType } from '../../contract/control/source.ts';
import { writtenConversations } from './conversations.ts';
import { previewFields } from './preview-fields.ts';
import { pushFields } from './push-fields.ts';
import { ruled } from './written-text.ts';
import { secretNames } from './secret-names.ts';
import { toKebab } from './spelling.ts';
import { spelled, writtenResources } from './written-resources.ts';
import { writtenSmokeTests } from './written-smoke-test.ts';

const maxModels = 20;
const price = z.number().min(0).max(1_000_000);

/** What the deploy file says of the models that agents use. This is no input of the Action. */
export const priceFields = z.object({
  prices: z
    .record(z.string().trim().min(1).max(200), z.strictObject({ input: price, output: price }))
    .refine((prices) => Object.keys(prices).length <= maxModels, `must have at most ${maxModels} models`)
    .exactOptional(),
});

/** Each test with the prices by which the cost of its answers is counted. */
export const priced = (tests: readonly SmokeTest[], prices: Prices | undefined): readonly SmokeTest[] =>
  prices === undefined ? tests : tests.map((test) => ({ ...test, prices }));

const oneLine = z
  .string()
  .trim()
  .min(1)
  .regex(/^[^\p{Cc}]*$/u, 'must be one line');

/** An address that is shown and logged, so it must not contain a user's password. */
const withoutPassword = (address: string): boolean => {
  if (!URL.canParse(address)) return true;
  const { protocol, username, password } = new URL(address);
  return password === '' && (username === '' || !protocol.startsWith('http'));
};

const repoUrl = oneLine.refine(withoutPassword, {
  message: 'must not contain a user or a password: the service reads the repository through its integration',
});

const repoRef = z.string().transform((written, context) => {
  const read = readWrittenRef(written);
  if (read.ok) return read.ref;
  const message =
    'must be a branch as its plain name or `refs/heads/NAME`, or a tag as `refs/tags/NAME`; a single commit is not supported';
  context.addIssue({ code: 'custom', message, params: { suggestion: read.suggestion } });
  return z.NEVER;
});

const pathInRepository = ruled(oneLine, (path) =>
  /^[/\\]|\\|(^|\/)\.\.(\/|$)/.test(path)
    ? 'must be a path within the repository, with forward slashes, from its root'
    : graphConfigPathProblem(path),
);

/** Reports what the service would refuse before anything is sent. */
const command = ruled(z.string().trim().min(1), (written) => {
  const found = refusedInCommand(written);
  return found.length === 0 ? undefined : `must not contain ${found.join(' or ')}: put such a command in a script`;
});

const webAddress = z
  .url({ protocol: /^https?$/ })
  .refine(withoutPassword, { message: 'must not contain a user or a password' });

/** The types of the fields of every deployment, in our spelling. Everything else about a field is in `field-table.ts`. */
export const commonFields = z.object({
  name: oneLine.exactOptional(),
  deploymentId: z.uuid().exactOptional(),
  secrets: secretNames.exactOptional(),
  secretsStrategy: z.enum(['merge', 'overwrite']).default('merge'),
  smokeTests: writtenSmokeTests.default([]),
  conversations: writtenConversations.exactOptional(),
  verify: z.enum(['before-traffic', 'after-traffic']).exactOptional(),
  onFailure: z.enum(['rollback', 'keep']).default('keep'),
  onUnproven: z.enum(['keep', 'promote']).default('keep'),
});

const rebuild = z.enum(['auto', 'always', 'never']);

const githubFields = z.object({
  integrationId: z.uuid().exactOptional(),
  repoUrl: repoUrl.exactOptional(),
  repoRef: repoRef.exactOptional(),
  graphConfigPath: pathInRepository.exactOptional(),
  deploymentType: deploymentType.exactOptional(),
  buildOnPush: z.boolean().exactOptional(),
  installCommand: command.exactOptional(),
  buildCommand: command.exactOptional(),
  rebuild: rebuild.default('auto'),
});

const imageFields = z.object({
  imageUri: ruled(
    oneLine.regex(/^\S+$/, { error: 'must not contain spaces', abort: true }),
    imageUriProblem,
  ).exactOptional(),
  customUrl: webAddress.exactOptional(),
  listenerId: z.uuid().exactOptional(),
  k8sNamespace: dnsLabel.exactOptional(),
  resourceSpec: writtenResources.exactOptional(),
  secretReferences: z.array(spelled(secretReference)).exactOptional(),
  rebuild: rebuild.exactOptional(),
});

/** The types of the fields of each source beside those of all. */
export const fieldsOfSource = {
  github: githubFields,
  external_docker: imageFields,
  internal_source: githubFields
    .pick({ graphConfigPath: true, deploymentType: true, installCommand: true, buildCommand: true, rebuild: true })
    .extend({ sourceDir: oneLine.exactOptional() }),
  internal_docker: imageFields.pick({ imageUri: true, rebuild: true }),
} as const;

const namesOf = ({ shape }: { shape: object }): string[] => Object.keys(shape).map(toKebab);

/** What a person may write in the file and as an input, by its name; the file knows prices, previews and the fields of pushes besides. */
export const deploymentFieldNames: readonly string[] = [
  ...new Set(['source', ...[commonFields, ...Object.values(fieldsOfSource)].flatMap(namesOf)]),
];

/** Every field of a deployment of the file. */
export const fileFieldNames: readonly string[] = [
  ...deploymentFieldNames,
  ...namesOf(priceFields),
  ...namesOf(previewFields),
  ...namesOf(pushFields),
];
