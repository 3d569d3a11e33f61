import type { Graph } from './graph.ts';

/** What the engine tells of a graph whose state has types at run time; undefined for one whose has not. */
export interface SchemaReaders {
  getStateTypeSchema(graph: Graph): unknown;
  getInputTypeSchema(graph: Graph): unknown;
  getOutputTypeSchema(graph: Graph): unknown;
  getConfigTypeSchema(graph: Graph): unknown;
}

/** Whether a module of the engine has all that tells schemas. */
export function isSchemaReaders(module: unknown): module is SchemaReaders {
  if (typeof module !== 'object' || module === null) return false;
  const names = ['getStateTypeSchema', 'getInputTypeSchema', 'getOutputTypeSchema', 'getConfigTypeSchema'];
  return names.every((name) => typeof Reflect.get(module, name) === 'function');
}
