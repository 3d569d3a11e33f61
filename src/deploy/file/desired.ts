import type * as z from 'zod';
import type { Secret } from '../../contract/control/secret.ts';
import type { commonFields, fieldsOfSource } from './deployment-fields.ts';
import type { EnvironmentGate } from './environment-gate.ts';
import type { PreviewTerms } from './preview-fields.ts';
import type { PushTerms } from './push-fields.ts';
import type { ConversationTerms } from './conversations.ts';
import type { SmokeTest } from './smoke-test.ts';

type CommonFields = z.output<typeof commonFields>;

/** What happens to existing secrets that are not in the configuration: kept, or removed. */
export type SecretsStrategy = CommonFields['secretsStrategy'];

/** Whether a new revision is tested before it gets traffic, or once it is live. */
export type Verify = NonNullable<CommonFields['verify']>;

/** What to do with a live revision that fails its smoke tests. */
export type OnFailure = CommonFields['onFailure'];

/** What to do with a held revision whose tests prove nothing, where another revision serves. */
export type OnUnproven = CommonFields['onUnproven'];

/** Found by id where one is given, else by this exact name. One of the two is always there. */
interface DesiredOfAny extends Pick<CommonFields, 'name' | 'deploymentId' | 'secretsStrategy'> {
  /** Absent: secrets are left alone. */
  secrets?: readonly Secret[];
}

/** An absent field is left as it is, or at the service's default. */
type DesiredOf<Source extends keyof typeof fieldsOfSource> = DesiredOfAny &
  z.output<(typeof fieldsOfSource)[Source]> & { source: Source };

/** A deployment built from a git repository. */
export type DesiredGithub = DesiredOf<'github'>;

/** A deployment that runs a container image. */
export type DesiredExternalDocker = DesiredOf<'external_docker'>;

/** A deployment built from a folder here, which is uploaded. */
export type DesiredInternalSource = DesiredOf<'internal_source'>;

/** A deployment that runs an image which was pushed to the service's own registry. */
export type DesiredInternalDocker = DesiredOf<'internal_docker'>;

/** The desired deployment, from any kind of input: the one input of `plan`. */
export type Desired = DesiredGithub | DesiredExternalDocker | DesiredInternalSource | DesiredInternalDocker;

/** One deployment of a file or of the Action's inputs: what should run, and how it has to prove itself. */
export interface DesiredDeployment {
  desired: Desired;
  smokeTests: readonly SmokeTest[];
  /** Absent: none are tried. */
  conversations?: ConversationTerms;
  /** Absent: before traffic where the service can hold the revision. */
  verify?: Verify;
  onFailure: OnFailure;
  onUnproven: OnUnproven;
  /** The deployment of the environment before: only what that one has proven is deployed. */
  after?: Named;
  /** What keeps deploys from its environment; absent: nothing. */
  gate?: EnvironmentGate;
  /** Absent: pull requests get no previews of it. */
  preview?: PreviewTerms;
  /** What of the files is not done, fit to show. */
  notes?: readonly string[];
}

/** The same with what a file says of pushes. */
export interface PushedDeployment extends DesiredDeployment {
  push: PushTerms;
}

/** A deployment by its id, or by its exact name. */
export interface Named {
  name?: string | undefined;
  deploymentId?: string | undefined;
}

/**
 * What a run is about. `plan` writes nothing, `smoke` only runs the tests, `rollback` restores the previously live
 * revision, `delete` removes: only a deploy and its plan know what should run.
 */
export type RunSubject =
  { mode: 'deploy' | 'plan'; desired: Desired } | { mode: 'smoke' | 'rollback' | 'delete'; named: Named };

/** The deployment that a run is about. */
export const namedBy = (subject: RunSubject): Named => ('desired' in subject ? subject.desired : subject.named);
