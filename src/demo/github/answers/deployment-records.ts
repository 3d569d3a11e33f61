/** One GitHub Deployment as it was made. */
export interface DeploymentRecord {
  id: number;
  repositoryId: number;
  sha: string;
  ref: string;
  task: string;
  environment: string;
  description: string | null;
  payload: unknown;
  isTransient: boolean;
  isProduction: boolean;
  at: string;
  updatedAt: string;
  /** Oldest first. */
  statuses: DeploymentStatusRecord[];
}

export interface DeploymentStatusRecord {
  id: number;
  state: string;
  description: string;
  environment: string;
  environmentUrl: string;
  logUrl: string;
  at: string;
}

/** Deployments, oldest first, each with its statuses. */
export class DeploymentRecords {
  readonly #all: DeploymentRecord[] = [];
  #nextStatus = 1;

  add(made: Omit<DeploymentRecord, 'id' | 'statuses' | 'updatedAt'>): DeploymentRecord {
    const record = { ...made, id: this.#all.length + 1, statuses: [], updatedAt: made.at };
    this.#all.push(record);
    return record;
  }

  of(repositoryId: number): DeploymentRecord[] {
    return this.#all.filter((each) => each.repositoryId === repositoryId);
  }

  byId(repositoryId: number, id: number): DeploymentRecord | undefined {
    return this.#all.find((each) => each.id === id && each.repositoryId === repositoryId);
  }

  addStatus(deployment: DeploymentRecord, made: Omit<DeploymentStatusRecord, 'id'>): DeploymentStatusRecord {
    const status = { id: this.#nextStatus++, ...made };
    deployment.statuses.push(status);
    deployment.updatedAt = made.at;
    return status;
  }

  /**
   * What a success does to the others: earlier deployments of the same environment that were successful become
   * inactive, unless they are transient or of production.
   */
  retire(deployment: DeploymentRecord, at: string): void {
    for (const other of this.of(deployment.repositoryId)) {
      const isEarlier = other.id < deployment.id && other.environment === deployment.environment;
      if (!isEarlier || other.isTransient || other.isProduction || other.statuses.at(-1)?.state !== 'success') continue;
      const { environment } = other;
      this.addStatus(other, { state: 'inactive', description: '', environment, environmentUrl: '', logUrl: '', at });
    }
  }
}
