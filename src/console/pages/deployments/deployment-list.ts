import { deploymentStates, type DeploymentSummary } from '../../../contract/control/deployment-summary.ts';

/** The view of the list, stored in the query of its address. */
export interface ListView {
  /** The search text, for names, addresses and live commits. */
  search: string;
  /** A state, or empty for all. */
  state: string;
  sort: SortKey;
  isDescending: boolean;
}

const sortKeys = ['name', 'state', 'change', 'requests', 'failures'] as const;
export type SortKey = (typeof sortKeys)[number];

/** Reads the view from the query of an address; unknown values are ignored. */
export function readView(query: Readonly<Record<string, string | undefined>>): ListView {
  const { q = '', state = '', sort = '' } = query;
  const isDescending = sort.startsWith('-');
  const name = isDescending ? sort.slice(1) : sort;
  return { search: q, state, sort: sortKeys.find((key) => key === name) ?? 'name', isDescending };
}

/** The query of a view, with a question mark; empty for the default view. */
export function viewQuery({ search, state, sort, isDescending }: ListView): string {
  const query = new URLSearchParams();
  if (search !== '') query.set('q', search);
  if (state !== '') query.set('state', state);
  if (sort !== 'name' || isDescending) query.set('sort', `${isDescending ? '-' : ''}${sort}`);
  return query.size === 0 ? '' : `?${query.toString()}`;
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const requestsOf = ({ activity }: DeploymentSummary): number => sum(activity.requests);
/** Failed requests and failed runs: a run may fail although the request that started it succeeded. */
export const failuresOf = ({ activity }: DeploymentSummary): number => sum(activity.errors) + sum(activity.failed_runs);

const byName = (one: DeploymentSummary, other: DeploymentSummary): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0;

const order: Readonly<Record<SortKey, (one: DeploymentSummary, other: DeploymentSummary) => number>> = {
  name: byName,
  state: (one, other) => urgencyOf(one.state) - urgencyOf(other.state),
  change: (one, other) => changedAt(one) - changedAt(other),
  requests: (one, other) => requestsOf(one) - requestsOf(other),
  failures: (one, other) => failuresOf(one) - failuresOf(other),
};

/** Deployments that need attention come first. */
const byUrgency = ['failed', 'no-source', 'deploying', 'deleting', 'not-deployed', 'live'];
const urgencyOf = (state: string): number => byUrgency.indexOf(state);
const changedAt = ({ last_change }: DeploymentSummary): number => (last_change ? Date.parse(last_change.at) : 0);

/** The deployments that match a view, in its order; equal ones are sorted by name. */
export function shownDeployments(all: readonly DeploymentSummary[], view: ListView): DeploymentSummary[] {
  const terms = view.search.toLowerCase().split(/\s+/).filter(Boolean);
  const sign = view.isDescending ? -1 : 1;
  return all
    .filter((each) => view.state === '' || each.state === view.state)
    .filter((each) => {
      const text = searchedText(each);
      return terms.every((word) => text.includes(word));
    })
    .sort((one, other) => sign * order[view.sort](one, other) || byName(one, other));
}

const searchedText = ({ name, url, live_commit }: DeploymentSummary): string =>
  `${name} ${url ?? ''} ${live_commit?.sha ?? ''} ${live_commit?.subject ?? ''}`.toLowerCase();

/** The number of deployments in each state. */
export function stateCounts(all: readonly DeploymentSummary[]): (readonly [state: string, count: number])[] {
  const counts = new Map<string, number>(deploymentStates.map((state) => [state, 0]));
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts];
}

const stateWords: ReadonlyMap<string, string> = new Map([['no-source', 'No source yet']]);

/** `not-deployed` as `Not deployed`. */
export const stateLabel = (state: string): string =>
  stateWords.get(state) ?? (state.charAt(0).toUpperCase() + state.slice(1)).replaceAll('-', ' ');

const plural = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

const failedOf = (failed: number): string => (failed === 0 ? '' : `, ${failed.toLocaleString('en')} failed`);

/** `1,204 requests, 3 failed` and `40 runs` */
export const activityTexts = ({ requests, errors, runs, failed_runs }: DeploymentSummary['activity']) => ({
  requests: plural(sum(requests), 'request') + failedOf(sum(errors)),
  runs: plural(sum(runs), 'run') + failedOf(sum(failed_runs)),
});

const changeWords: ReadonlyMap<string, string> = new Map([
  ['create deployment', 'Created'],
  ['patch deployment', 'Changed'],
  ['delete deployment', 'Deletion requested'],
  ['create revision', 'New revision'],
  ['redeploy revision', 'Redeployed'],
  ['interrupt revision', 'Revision stopped'],
  ['promote revision', 'Revision promoted'],
  ['discard revision', 'Revision discarded'],
  ['report verdict', 'Tests reported'],
  ['build push', 'Push'],
  ['request upload', 'Upload requested'],
]);

const actorWords: ReadonlyMap<string, string> = new Map([
  ['operator', 'the operator of the service'],
  ['service', 'the service'],
]);

/** `Changed by key “Ada”` */
export const changeText = ({
  operation,
  key_name,
  actor,
}: Pick<NonNullable<DeploymentSummary['last_change']>, 'operation' | 'key_name' | 'actor'>): string =>
  `${changeWords.get(operation) ?? stateLabel(operation)} by ${key_name === null ? (actorWords.get(actor) ?? actor) : `key “${key_name}”`}`;
/** A bar of a sparkline, in units of its drawing: `y` is measured from the top. */
export interface Bar {
  x: number;
  y: number;
  height: number;
}

/** The size of the drawing: one unit of width for each step of the period. */
export const sparklineHeight = 24;
/** The minimum height of a bar, so that a single request among thousands is visible. */
const minBarHeight = 2;

/** The bars of counts, as high as their share of `largest`; none for a count of 0. */
export function barsOf(counts: readonly number[], maxCount: number): Bar[] {
  return counts.flatMap((count, x) => {
    if (count <= 0) return [];
    const height = Math.max(minBarHeight, Math.min(sparklineHeight, (count / Math.max(maxCount, 1)) * sparklineHeight));
    return [{ x, y: sparklineHeight - height, height }];
  });
}

/** The bars as one path, which is cheaper to draw than an element for each. */
export const barsPath = (bars: readonly Bar[]): string =>
  bars.map(({ x, y, height }) => `M${x} ${round(y)}h.8v${round(height)}h-.8z`).join('');

const round = (value: number): number => Math.round(value * 10) / 10;
