/** A page of the guide: its file in the repository, and its name in the navigation. */
export type NavigationEntry = readonly [file: string, label: string];

/** Pages under one heading of the navigation. */
export interface NavigationGroup {
  title: string;
  pages: readonly NavigationEntry[];
}

/** Every page of the guide in the order of the navigation, of the search and of `llms.txt`. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: 'Start',
    pages: [
      ['README.md', 'Overview'],
      ['docs/services.md', 'On one machine'],
      ['docs/console.md', 'The console'],
      ['docs/langsmith.md', 'On LangSmith'],
      ['docs/troubleshooting.md', 'Troubleshooting'],
    ],
  },
  {
    title: 'Deploy',
    pages: [
      ['docs/action.md', 'The Action'],
      ['docs/cli.md', 'The command line'],
      ['docs/app.md', 'The App'],
      ['docs/plans.md', 'Plans that bind'],
      ['docs/verdicts.md', 'Pass rates'],
      ['docs/comparisons.md', 'Compared with live'],
      ['docs/receipts.md', 'Receipts'],
    ],
  },
  {
    title: 'Pull requests',
    pages: [
      ['docs/previews.md', 'Previews'],
      ['docs/commands.md', 'Commands in comments'],
      ['docs/checks.md', 'What a check says'],
    ],
  },
  {
    title: 'Agents',
    pages: [
      ['docs/agents.md', 'Talking to an agent'],
      ['docs/agent-runs.md', 'Threads and runs'],
      ['docs/agent-interrupts.md', 'Interrupts'],
      ['docs/agent-crons-and-store.md', 'Crons and the store'],
      ['docs/agent-protocols.md', 'Other agents, and models'],
      ['docs/agent-configuration.md', 'Configuration file'],
      ['docs/agent-webhooks.md', 'Webhooks'],
      ['docs/agent-search.md', 'Search by meaning'],
      ['docs/clients.md', 'Clients'],
    ],
  },
  {
    title: 'Operate',
    pages: [
      ['docs/self-hosting.md', 'For a team'],
      ['docs/kubernetes.md', 'In Kubernetes'],
      ['docs/reliability.md', 'Reliability of the App'],
      ['docs/debugging.md', 'Debugging'],
      ['SECURITY.md', 'Security'],
      ['docs/threats.md', 'Threat model'],
    ],
  },
  {
    title: 'Reference',
    pages: [
      ['docs/deploy-file.md', 'The deploy file'],
      ['docs/outcomes.md', 'Outcomes'],
      ['docs/glossary.md', 'Glossary'],
      ['CHANGELOG.md', 'Changelog'],
    ],
  },
  {
    title: 'Design notes',
    pages: [
      ['docs/architecture.md', 'Architecture'],
      ['docs/contributing.md', 'Contributing'],
      ['docs/dependencies.md', 'Dependencies'],
      ['bench/README.md', 'Benchmarks'],
      ['docs/design/README.md', 'All design notes'],
      ['docs/design/deploy-machine.md', 'Deploy machine'],
      ['docs/design/app-queue.md', 'Queue of the App'],
      ['docs/design/contract.md', 'Contract'],
      ['docs/design/control-compatibility.md', 'Control service, compatibility'],
      ['docs/design/deployments-and-revisions.md', 'Deployments and revisions'],
      ['docs/design/builds.md', 'Builds'],
      ['docs/design/rollouts.md', 'Rollouts'],
      ['docs/design/gateway.md', 'Gateway'],
      ['docs/design/health.md', 'Health'],
      ['docs/design/logs.md', 'Logs'],
      ['docs/design/isolation.md', 'Isolation'],
      ['docs/design/containers-and-clusters.md', 'Containers and clusters'],
      ['docs/design/tenancy-and-keys.md', 'Tenancy and keys'],
      ['docs/design/retention-and-data-folder.md', 'Retention and data folder'],
      ['docs/design/postgres.md', 'Postgres'],
      ['docs/design/console.md', 'Console'],
      ['docs/design/agent-process.md', 'Agent process'],
      ['docs/design/agent-graphs.md', 'Graphs'],
      ['docs/design/agent-runs.md', 'Runs'],
      ['docs/design/agent-streams.md', 'Streams'],
      ['docs/design/agent-threads-and-store.md', 'Threads and store'],
      ['docs/design/agent-crons-and-webhooks.md', 'Crons and webhooks'],
      ['docs/design/agent-access.md', 'Access to agents'],
      ['docs/design/agent-compatibility.md', 'Agent server, compatibility'],
      ['docs/design/agent-comparison.md', 'Agent server, compared'],
      ['docs/design/python-worker.md', 'Worker in Python'],
      ['docs/design/statistics.md', 'Statistics'],
      ['docs/design/testing.md', 'Testing'],
    ],
  },
];
