import { isObject } from '../../kit/json-object.ts';
import type { DeploymentField } from '../../contract/control/deployment-field.ts';

/** The texts of a field in a form. A hint may contain code between backticks. */
export interface FieldText {
  label: string;
  hint: string;
  placeholder?: string;
}

const commands = 'Commands joined by `&&` only: put pipes, redirects or variables in a script.';

/** The texts of a deployment's fields by name, which are the same on every page. */
const texts: Readonly<Record<string, Partial<FieldText> & { label: string }>> = {
  name: { label: 'Name', hint: 'Up to 63 lower-case letters, digits and hyphens.' },
  source: { label: 'Source' },
  'integration-id': { label: 'GitHub integration', hint: 'Only for private GitHub repositories.' },
  'repo-url': {
    label: 'Repository address',
    hint: 'Type to filter the repositories of the integration, or enter any address.',
    placeholder: 'https://github.com/owner/repository',
  },
  'repo-ref': {
    label: 'Branch or tag',
    hint: 'A branch as its plain name, or a tag as `refs/tags/NAME`.',
    placeholder: 'main',
  },
  'repo-commit-sha': { label: 'Commit' },
  'source-tarball-path': { label: 'Uploaded source' },
  'graph-config-path': {
    label: 'Graph configuration file',
    hint: 'Path of `langgraph.json`, from the root of the repository or the folder.',
    placeholder: 'langgraph.json',
  },
  'build-on-push': {
    label: 'Build on push',
    hint: 'Every push to the branch creates a revision. Not possible with a tag.',
  },
  'image-uri': { label: 'Image', hint: 'Address of a container image.', placeholder: 'registry.example.com/agent:1' },
  'listener-id': { label: 'Listener', hint: 'Runs the image in its cluster.' },
  'k8s-namespace': { label: 'Kubernetes namespace', hint: 'In the cluster of the listener.' },
  'deployment-type': { label: 'Type', hint: 'Memory of the agent: dev_free 512 MB, dev 1 GB, prod 2 GB.' },
  'install-command': {
    label: 'Install command',
    hint: `Runs at the root of what is built; by default the lock file decides. ${commands}`,
    placeholder: 'npm ci',
  },
  'build-command': {
    label: 'Build command',
    hint: `Runs in the folder of the graph configuration file. ${commands}`,
    placeholder: 'npm run build',
  },
  'custom-url': { label: 'Address of the agent', hint: 'Address under which the deployment answers.' },
  'resource-spec': {
    label: 'Resources',
    hint: 'As JSON, for each replica: CPU in cores, memory in MB, storage in GiB. A change replaces all of it.',
    placeholder: '{"cpu": 1, "memory_mb": 2048}',
  },
  'secret-references': {
    label: 'Secret references',
    hint: 'Secrets of the cluster as a JSON list, each with `name` (of the variable), `secret_name` and `secret_key`.',
  },
  secrets: {
    label: 'Secrets',
    hint: 'Environment variables of the agent, such as the key of a model. Values are encrypted and never shown again.',
  },
};

/** The texts of a field. An unknown one has its name as its label. */
export const fieldText = ({ name, input = '' }: Pick<DeploymentField, 'name' | 'input'>): FieldText => ({
  hint: input,
  ...(texts[name] ?? { label: name }),
});

/** The texts of the secrets, which have their own form. */
export const secretsText = fieldText({ name: 'secrets' });

/** Sets a value of a request's body by its dotted path. */
export function setAt(body: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = body;
  for (const name of names) {
    const found = at[name];
    const next = isObject(found) ? found : {};
    at[name] = next;
    at = next;
  }
  at[last] = value;
}
