import type { EventClock } from './event-clock.ts';
import type { ModelProcess } from './model-process.ts';

/** A job as it is sent: what is done, and for what. */
export interface ModelJob {
  name: string;
  id: string;
  /** When it may be worked on (ms since the epoch). */
  at: number;
}

interface Kept extends ModelJob {
  attempt: number;
  by: ModelProcess | undefined;
}

/** Works on one job in one process. A rejection has it repeated. */
export type Worker = (job: ModelJob, process: ModelProcess) => Promise<void>;

/**
 * The job queue as the database keeps it: jobs outlive processes, those of a dead process are assigned again after a
 * missed heartbeat, and failed ones are retried a little later.
 */
export class ModelJobs {
  readonly #clock: EventClock;
  readonly #work: Worker;
  readonly #jobs = new Set<Kept>();
  readonly #known = new Set<string>();
  readonly #processes: ModelProcess[] = [];
  readonly #underWay = new Map<ModelProcess, number>();
  /** What made jobs fail, each once. */
  readonly failures = new Map<string, number>();

  constructor(clock: EventClock, work: Worker) {
    this.#clock = clock;
    this.#work = work;
  }

  /** How many jobs there are, under way or to come. */
  get count(): number {
    return this.#jobs.size;
  }

  /** The remaining jobs, as text. */
  get left(): string[] {
    return [...this.#jobs].map(({ name, id, at, attempt }) => `${name} ${id} at ${at}, attempt ${attempt}`);
  }

  send(name: string, id: string, at = this.#clock.now()): void {
    this.#jobs.add({ name, id, at, attempt: 0, by: undefined });
    this.#lookAt(at);
  }

  /** Sends a job, unless one of this id was sent before: the database remembers those that have ended, too. */
  sendOnce(name: string, id: string, at: number, jobId: string): void {
    if (this.#known.has(jobId)) return;
    this.#known.add(jobId);
    this.send(name, id, at);
  }

  /** A process that takes jobs from now on. */
  join(process: ModelProcess): void {
    this.#processes.push(process);
    this.#underWay.set(process, 0);
    process.onDeath = () => {
      this.#processes.splice(this.#processes.indexOf(process), 1);
      this.#clock.after(heartbeatMs, () => this.#giveBack(process));
    };
    this.#lookAt(this.#clock.now());
  }

  #giveBack(process: ModelProcess): void {
    for (const job of this.#jobs) if (job.by === process) job.by = undefined;
    this.#look();
  }

  #lookAt(at: number): void {
    this.#clock.after(at - this.#clock.now(), () => this.#look());
  }

  #look(): void {
    const now = this.#clock.now();
    for (const job of this.#jobs) {
      if (job.by || job.at > now) continue;
      const free = this.#processes
        .filter((each) => (this.#underWay.get(each) ?? 0) < workers)
        .toSorted((a, b) => (this.#underWay.get(a) ?? 0) - (this.#underWay.get(b) ?? 0))[0];
      if (!free) return;
      void this.#run(job, free);
    }
  }

  async #run(job: Kept, process: ModelProcess): Promise<void> {
    job.by = process;
    job.attempt += 1;
    this.#underWay.set(process, (this.#underWay.get(process) ?? 0) + 1);
    const failure: unknown = await this.#work(job, process).then(
      () => undefined,
      (error: unknown) => error ?? new Error('nothing'),
    );
    if (!process.isAlive) return;
    this.#underWay.set(process, (this.#underWay.get(process) ?? 0) - 1);
    if (failure === undefined) this.#jobs.delete(job);
    else {
      const words = `${job.name}: ${failure instanceof Error ? failure.stack : 'no Error'}`;
      this.failures.set(words, (this.failures.get(words) ?? 0) + 1);
      job.by = undefined;
      job.at = this.#clock.now() + Math.min(60_000, 1_000 * 2 ** Math.min(6, job.attempt - 1));
      this.#lookAt(job.at);
    }
    this.#look();
  }
}

const workers = 4;
/** How long a dead process' jobs stay with it. */
const heartbeatMs = 20_000;
