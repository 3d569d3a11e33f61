import type { JsonObject } from '../exchange.ts';

/** A button of a check run. */
export interface CheckAction {
  label: string;
  description: string;
  identifier: string;
}

/** What GitHub keeps of a check run and the emulated one does not. */
export interface CheckRecord {
  id: number;
  repositoryId: number;
  sha: string;
  suiteId: number;
  actions: CheckAction[];
  annotations: JsonObject[];
}

/** Which check runs and suites there are, by commit. */
export class Checks {
  readonly #runs = new Map<number, CheckRecord>();
  readonly #suites = new Map<string, number>();

  keep(record: CheckRecord): void {
    this.#runs.set(record.id, record);
    this.#suites.set(`${record.repositoryId} ${record.sha}`, record.suiteId);
  }

  run(id: number): CheckRecord | undefined {
    return this.#runs.get(id);
  }

  keepSuite(repositoryId: number, sha: string, suiteId: number): void {
    this.#suites.set(`${repositoryId} ${sha}`, suiteId);
  }

  suiteOf(repositoryId: number, sha: string): number | undefined {
    return this.#suites.get(`${repositoryId} ${sha}`);
  }

  /** The commit of a suite. */
  commitOfSuite(repositoryId: number, suiteId: number): string | undefined {
    for (const [key, id] of this.#suites) {
      const [repository, sha] = key.split(' ');
      if (id === suiteId && repository === String(repositoryId)) return sha;
    }
    return undefined;
  }
}

/** GitHub's bounds: characters of a text, annotations of a request, buttons of a run and characters of their parts. */
const most = { text: 65_535, annotations: 50, actions: 3, label: 20, description: 40, identifier: 20 };

/**
 * What GitHub refuses of a check run that is sent, in a sentence; undefined where it takes it.
 *
 * @param sent the body of the request.
 */
export function problemOf(sent: JsonObject): string | undefined {
  const { status, conclusion, output, actions } = sent;
  if (status === 'completed' && conclusion == null) return 'conclusion is required when status is completed';
  if (conclusion != null && status !== undefined && status !== 'completed')
    return 'status must be completed with a conclusion';
  if (typeof output === 'object' && output !== null) {
    for (const [name, text] of Object.entries(output)) {
      if (name !== 'title' && typeof text === 'string' && text.length > most.text) return `output.${name} is too long`;
    }
    if ('title' in output && !('summary' in output)) return 'output.summary is required';
    const annotations = 'annotations' in output ? output.annotations : [];
    if (Array.isArray(annotations) && annotations.length > most.annotations)
      return 'output.annotations holds more than 50';
  }
  if (actions === undefined) return undefined;
  if (!Array.isArray(actions) || actions.length > most.actions) return 'actions holds more than 3';
  for (const action of actions) {
    for (const name of ['label', 'description', 'identifier'] as const) {
      const text: unknown = typeof action === 'object' && action !== null ? Reflect.get(action, name) : undefined;
      if (typeof text !== 'string' || text === '') return `actions.${name} is missing`;
      if (text.length > most[name]) return `actions.${name} is too long`;
    }
  }
  return undefined;
}
