/** Whose input is worked on: that of a repository, as one installation reaches it. */
export interface InputOwner {
  installationId: number;
  repositoryId: number;
}

/** Lets one work at a time. */
export type TakeTurn = <T>(owner: InputOwner | undefined, work: () => Promise<T>) => Promise<T>;

/**
 * Gives turns to owners fairly: the next one is of the installation whose last turn was longest ago, and there of the
 * repository whose last turn was longest ago. However much one owner sends, another one waits for one turn of it.
 */
export function createTurns(): TakeTurn {
  const waiting: { owner: InputOwner | undefined; begin: () => void }[] = [];
  const lastTurn = { installations: new Map<number, number>(), repositories: new Map<number, number>() };
  let isTaken = false;
  let turn = 0;

  const lastOf = (owner: InputOwner | undefined): [installation: number, repository: number] => [
    lastTurn.installations.get(owner?.installationId ?? 0) ?? 0,
    lastTurn.repositories.get(owner?.repositoryId ?? 0) ?? 0,
  ];

  function beginNext(): void {
    let [first] = waiting;
    if (isTaken || first === undefined) return;
    for (const each of waiting) {
      const [[installation, repository], [firstInstallation, firstRepository]] = [
        lastOf(each.owner),
        lastOf(first.owner),
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
    beginNext();
  }

  return (owner, work) =>
    new Promise((resolve, reject) => {
      waiting.push({ owner, begin: () => void work().then(resolve, reject).finally(end) });
      beginNext();
    });
}
