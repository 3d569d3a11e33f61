/** The owner of untrusted input: a repository of an installation. */
export interface InputOwner {
  installationId: number;
  repositoryId: number;
}

/** Runs one work at a time. */
export type TakeTurn = <T>(owner: InputOwner | undefined, work: () => Promise<T>) => Promise<T>;

/**
 * Gives turns to owners fairly: the next turn goes to the installation with the oldest last turn, and there to the
 * repository with the oldest last turn. So nobody waits for more than one turn of another owner.
 */
export function createTurns(): TakeTurn {
  const waiting: { owner: InputOwner | undefined; begin: () => void }[] = [];
  const lastTurn = { installations: new Map<number, number>(), repositories: new Map<number, number>() };
  let isTaken = false;
  let turn = 0;

  const lastTurnsOf = (owner: InputOwner | undefined): [installation: number, repository: number] => [
    lastTurn.installations.get(owner?.installationId ?? 0) ?? 0,
    lastTurn.repositories.get(owner?.repositoryId ?? 0) ?? 0,
  ];

  function startNext(): void {
    let [first] = waiting;
    if (isTaken || first === undefined) return;
    for (const each of waiting) {
      const [[installation, repository], [firstInstallation, firstRepository]] = [
        lastTurnsOf(each.owner),
        lastTurnsOf(first.owner),
      ];
      if (installation < firstInstallation || (installation === firstInstallation && repository < firstRepository))
        first = each;
    }
    waiting.splice(waiting.indexOf(first), 1);
    turn += 1;
    lastTurn.installations.set(first.owner?.installationId ?? 0, turn);
    lastTurn.repositories.set(first.owner?.repositoryId ?? 0, turn);
    isTaken = true;
    first.begin();
  }

  function end(): void {
    isTaken = false;
    if (waiting.length === 0) for (const last of Object.values(lastTurn)) last.clear();
    startNext();
  }

  return (owner, work) =>
    new Promise((resolve, reject) => {
      waiting.push({ owner, begin: () => void work().then(resolve, reject).finally(end) });
      startNext();
    });
}
