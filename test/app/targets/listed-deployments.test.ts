import { describe, expect, test } from 'vitest';
import { createDeploymentsReader } from '../../../app/targets/listed-deployments.ts';
import type { DeploymentsList, DeploymentsQuery } from '../../../src/contract/control/deployment.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { agents, deployed, resolverOf, intruder, missing } from './models.ts';

const away = () =>
  new ServiceError({ operation: 'list deployments', method: 'GET', address: 'x', kind: 'unreachable', effect: 'none' });

/** A reader over a service that answers so, with a clock that is moved by hand. */
function reading(answer: (query: DeploymentsQuery) => Promise<DeploymentsList>) {
  const queries: DeploymentsQuery[] = [];
  const clock = { at: 0, now: () => clock.at };
  const control = {
    listDeployments: (query: DeploymentsQuery) => {
      queries.push(query);
      return answer(query);
    },
  };
  return { read: createDeploymentsReader(control, clock, 3000), clock, queries };
}

const many = Array.from({ length: 250 }, (_, at) => deployed(`d${at}`));
const pages = async ({ limit = 20, offset = 0 }: DeploymentsQuery): Promise<DeploymentsList> => ({
  resources: many.slice(offset, offset + limit),
  offset,
});

describe('the list of deployments', () => {
  test('has all pages', async () => {
    const { read, queries } = reading(pages);
    const listed = await read();
    expect(listed).toMatchObject({ kind: 'listed' });
    expect('deployments' in listed ? listed.deployments.map(({ name }) => name) : []).toEqual(
      many.map(({ name }) => name),
    );
    expect(queries).toEqual([0, 100, 200].map((offset) => ({ limit: 100, offset })));
  });

  test('ends where a service passes over the offset', async () => {
    const { read, queries } = reading(async () => ({ resources: many.slice(0, 100), offset: 0 }));
    expect(await read()).toMatchObject({ kind: 'listed', deployments: { length: 100 } });
    expect(queries).toHaveLength(2);
  });

  test('is shared by all who ask at once, and for a few seconds', async () => {
    const { read, clock, queries } = reading(pages);
    const [one, other] = await Promise.all([read(), read()]);
    expect(one).toBe(other);
    clock.at = 2999;
    expect(await read()).toBe(one);
    expect(queries).toHaveLength(3);
    clock.at = 3000;
    await read();
    expect(queries).toHaveLength(6);
  });

  test('that failed is requested again at once', async () => {
    let failures = 1;
    const { read, queries } = reading(async (query) => {
      failures -= 1;
      if (failures >= 0) throw away();
      return pages(query);
    });
    await expect(Promise.all([read(), read()])).rejects.toThrow(ServiceError);
    expect(await read()).toMatchObject({ kind: 'listed' });
    expect(queries).toHaveLength(4);
  });

  test('is not offered by every service', async () => {
    const { read } = reading(async () => {
      throw missing();
    });
    expect(await read()).toEqual({ kind: 'not-offered' });
  });
});

describe('a service that lists nothing', () => {
  const one = deployed('a');
  const control = {
    listDeployments: async () => {
      throw missing();
    },
    getDeployment: async (id: string) => {
      if (id !== one.id) throw missing();
      return one;
    },
  };

  test('is read for what the file names by id', async () => {
    const resolver = resolverOf([], { 'acme/agents': `deployments: { a: { deployment-id: ${one.id} } }` }, { control });
    expect((await resolver.targetsOf(agents, 'main')).targets.map(({ deploymentId }) => deploymentId)).toEqual([
      one.id,
    ]);
  });

  test('and whose that is counts all the same', async () => {
    const resolver = resolverOf(
      [],
      { 'mallory/play': `deployments: { a: { deployment-id: ${one.id} } }` },
      { control },
    );
    expect(await resolver.targetsOf(intruder, 'main')).toEqual({
      targets: [],
      refused: [{ deployment: 'a', why: expect.stringContaining('is not this repository') }],
    });
  });

  test('says of a name that an id is needed', async () => {
    const resolver = resolverOf([], { 'acme/agents': 'name: a' }, { control });
    expect((await resolver.targetsOf(agents, 'main')).refused).toEqual([
      { deployment: 'a', why: 'the service does not list its deployments: give its deployment-id' },
    ]);
  });
});

test('a service that is away is no reason to deploy nothing: the push is tried again', async () => {
  const control = {
    listDeployments: async () => {
      throw away();
    },
    getDeployment: async () => deployed('a'),
  };
  await expect(resolverOf([], {}, { control }).targetsOf(agents, 'main')).rejects.toThrow(ServiceError);
});
