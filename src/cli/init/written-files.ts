import { posix } from 'node:path';
import type { FoundAgent } from './find-agent.ts';
import { readGraphInput } from './graph-input.ts';

/** The service's own secrets in the workflow, which are not the agent's. */
const serviceVariables = /^(?:LANDFALL|LANGSMITH|LANGCHAIN)_/;

/** The names that become secrets of the deployment. */
export const secretsOf = ({ variables }: FoundAgent): string[] =>
  variables.filter((name) => !serviceVariables.test(name));

/** A text as a plain scalar where YAML reads it as that text, else in quotes. */
const scalar = (text: string): string =>
  /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z.][\w./-]*(?: [\w./-]+)*$/i.test(text) ? text : JSON.stringify(text);

/** The repository and branch that a build from git would read. */
export interface GitSource {
  url: string;
  branch: string;
}

/** The deploy file of an agent: uploaded from its folder, rolled back where its first tests fail. */
export function deployFileOf(agent: FoundAgent, name: string, git: GitSource | undefined): string {
  const secrets = secretsOf(agent);
  return [
    '# What is deployed, and how it proves that it works. Check it with: landfall validate',
    '# Every field: docs/deploy-file.md of Landfall.',
    'deployments:',
    '  # The name in the console, in reports, and of the deployment at the service.',
    `  ${scalar(name)}:`,
    '    # This folder is packed and uploaded, without what .gitignore names.',
    `    source-dir: ${scalar(agent.sourceDir)}`,
    ...(git
      ? [
          '    # To build pushed commits instead, which the App needs, replace these two lines by:',
          `    #   repo-url: ${scalar(git.url)}`,
          `    #   repo-ref: ${scalar(git.branch)}`,
          `    #   graph-config-path: ${scalar(agent.configPath)}`,
        ]
      : []),
    '    # The file that names the graphs, from that folder.',
    `    graph-config-path: ${scalar(agent.graphConfigPath)}`,
    '    # Names of environment variables that the agent gets. Their values stay out of this file.',
    secrets.length > 0 ? `    secrets: [${secrets.join(', ')}]` : '    # secrets: [OPENAI_API_KEY]',
    '    # A revision that fails its tests makes way for the one before it.',
    '    on-failure: rollback',
    '    # Sent to each new revision. Replace them by questions that your agent has to get right.',
    '    smoke-tests:',
    ...agent.graphs.flatMap(({ graphId, file }) => smokeTestOf(agent, graphId, file)),
    '',
  ].join('\n');
}

function smokeTestOf(agent: FoundAgent, graphId: string, file: string): string[] {
  const path = posix.join(posix.dirname(agent.configPath), file);
  const input = readGraphInput(path);
  return [
    `      - name: ${scalar(`${graphId} answers`)}`,
    `        assistant: ${scalar(graphId)}`,
    ...(input.kind === 'unknown'
      ? [`        # The input of ${path} was not recognised: write its own keys here.`]
      : []),
    `        input: ${input.kind === 'keys' ? flowMap(input.keys) : '{ messages: [{ role: user, content: Hello }] }'}`,
    '        expect:',
    '          status: success',
    // An answer of text or of blocks: the type of the message holds for both.
    ...(input.kind === 'messages' ? ["          values: [{ path: '$.messages[-1].type', equals: ai }]"] : []),
    '          total-within: 60s',
  ];
}

const flowMap = (values: Readonly<Record<string, string | number | boolean>>): string => {
  const members = Object.entries(values).map(([key, value]) => `${key}: ${String(value)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
};

/** The workflow that plans pull requests and deploys the branch. */
export function workflowOf(agent: FoundAgent, { uses, branch }: { uses: string; branch: string }): string {
  const secrets = secretsOf(agent);
  return `# Deploys the agent on every push, and shows in a pull request what a merge would change.
name: deploy
on:
  push:
    branches: [${scalar(branch)}]
  pull_request:

# The step reads the repository and writes nothing to it.
permissions:
  contents: read

# One deploy at a time, never cancelled midway: a newer push waits.
concurrency:
  group: landfall-\${{ github.ref }}
  cancel-in-progress: false

jobs:
  deploy:
    runs-on: ubuntu-latest
    # Longer than a build and its smoke tests take.
    timeout-minutes: 45
    steps:
      - uses: actions/checkout@v4
      - uses: ${uses}
        with:
          # The address of the control service: a variable of the repository.
          base-url: \${{ vars.LANDFALL_BASE_URL }}
          # Its key: a secret of the repository.
          api-key: \${{ secrets.LANDFALL_API_KEY }}
          mode: \${{ github.event_name == 'pull_request' && 'plan' || 'deploy' }}
${secrets.length === 0 ? '' : secretLines(secrets)}`;
}

const secretLines = (secrets: readonly string[]): string =>
  [
    "        # The values of the agent's secrets, from secrets of the repository.",
    '        env:',
    ...secrets.map((name) => `          ${name}: \${{ secrets.${name} }}`),
    '',
  ].join('\n');
