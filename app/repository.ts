/** A repository as one installation of the App reaches it. The id stays when the repository is renamed or moved. */
export interface RepositoryAt {
  installationId: number;
  repositoryId: number;
  owner: string;
  name: string;
}

/** `owner/name`, as people say it. */
export const fullName = ({ owner, name }: Pick<RepositoryAt, 'owner' | 'name'>): string => `${owner}/${name}`;
