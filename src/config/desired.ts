import type { DeploymentType } from '../contract/control/source.ts';
import type { ResourceSpec } from '../contract/control/resource-spec.ts';
import type { Secret, SecretReference } from '../contract/control/secret.ts';
import type { PushTerms } from './push-terms.ts';
import type { SmokeTest } from './smoke-test.ts';

/** What happens to existing secrets that are not in the configuration: kept, or removed. */
export const secretsStrategies = ['merge', 'overwrite'] as const;
export type SecretsStrategy = (typeof secretsStrategies)[number];

/** When a revision is made although no field differs; for `github` and `internal_source`. */
export const rebuilds = ['auto', 'always', 'never'] as const;
export type Rebuild = (typeof rebuilds)[number];

/** What becomes of a live revision that answers wrongly. */
export const onFailures = ['rollback', 'keep'] as const;
export type OnFailure = (typeof onFailures)[number];

interface DesiredOfAny {
  /** Found by id where one is given, else by this exact name. One of the two is always there. */
  name?: string;
  deploymentId?: string;
  /** Absent: secrets are left alone. */
  secrets?: readonly Secret[];
  secretsStrategy: SecretsStrategy;
}

/** A deployment built from a git repository. An absent field is left as it is, or at the service's default. */
export interface DesiredGithub extends DesiredOfAny {
  source: 'github';
  integrationId?: string;
  repoUrl?: string;
  /** In the document's spelling: a plain branch name, or `refs/tags/...`. */
  repoRef?: string;
  graphConfigPath?: string;
  deploymentType?: DeploymentType;
  buildOnPush?: boolean;
  installCommand?: string;
  buildCommand?: string;
  rebuild: Rebuild;
}

/** A deployment that runs a container image. */
export interface DesiredExternalDocker extends DesiredOfAny {
  source: 'external_docker';
  imageUri?: string;
  customUrl?: string;
  listenerId?: string;
  k8sNamespace?: string;
  resourceSpec?: ResourceSpec;
  secretReferences?: readonly SecretReference[];
}

/** A deployment built from a folder here, which is uploaded. */
export interface DesiredInternalSource extends DesiredOfAny {
  source: 'internal_source';
  /** From the working directory. */
  sourceDir?: string;
  /** From the root of that folder. */
  graphConfigPath?: string;
  installCommand?: string;
  buildCommand?: string;
  rebuild: Rebuild;
}

/** A deployment that runs an image which was pushed to the service's own registry. */
export interface DesiredInternalDocker extends DesiredOfAny {
  source: 'internal_docker';
  imageUri?: string;
}

/** The desired deployment, from any kind of input: the one input of `plan`. */
export type Desired = DesiredGithub | DesiredExternalDocker | DesiredInternalSource | DesiredInternalDocker;

/** One deployment of a file or of the Action's inputs: what should run, and how it has to prove itself. */
export interface DesiredDeployment {
  desired: Desired;
  smokeTests: readonly SmokeTest[];
  onFailure: OnFailure;
}

/** The same with what a file says of pushes. */
export interface PushedDeployment extends DesiredDeployment {
  push: PushTerms;
}
