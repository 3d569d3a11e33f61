import { deploymentNameProblem, longestDeploymentName } from '../../../contract/control/deployment-name.ts';
import {
  graphConfigPathProblem as wrongGraphConfigPath,
  imageUriProblem,
} from '../../../contract/control/source-names.ts';
import type { Hosting } from './hosting.ts';

/** The longest name of a deployment: what the contract says, and what the public service takes where it is self-hosted. */
const longestName = (hosting: Hosting): number => (hosting === 'self-hosted' ? 21 : longestDeploymentName);

/** The problem with a deployment's name, if any. */
export const nameProblem = (name: string, hosting: Hosting): string | undefined =>
  sentence('name', deploymentNameProblem(name, longestName(hosting)));

/** The problem with `graph_config_path`, if any. */
export const graphConfigPathProblem = (path: string): string | undefined =>
  sentence('source_revision_config.graph_config_path', wrongGraphConfigPath(path));

/** The problem with `image_uri`, if any. */
export const imageProblem = (uri: string): string | undefined =>
  sentence('source_revision_config.image_uri', imageUriProblem(uri));

/** The problem with `custom_url`, if any. */
export function customUrlProblem(address: string): string | undefined {
  const { protocol, username, password } = URL.canParse(address)
    ? new URL(address)
    : { protocol: '', username: '', password: '' };
  if (/^https?:$/.test(protocol) && !username && !password) return undefined;
  return 'source_config.custom_url must be an http or https address without a user or a password.';
}

const sentence = (field: string, words: string | undefined): string | undefined => words && `${field} ${words}.`;
