import type { Graph } from './graph.ts';

/** The engine's readers of a graph's schemas; undefined results for a state without types at run time. */
export interface SchemaReaders {
  getStateTypeSchema(graph: Graph): unknown;
  getInputTypeSchema(graph: Graph): unknown;
  getOutputTypeSchema(graph: Graph): unknown;
  getConfigTypeSchema(graph: Graph): unknown;
}

/** Whether a module of the engine has all schema readers. */
export function isSchemaReaders(module: unknown): module is SchemaReaders {
  if (typeof module !== 'object' || module === null) return false;
  const names = ['getStateTypeSchema', 'getInputTypeSchema', 'getOutputTypeSchema', 'getConfigTypeSchema'];
  return names.every((name) => typeof Reflect.get(module, name) === 'function');
}
