import type ts from 'typescript-5';
import type { FreeObject } from '../../../../../contract/agent/open-word.ts';
import type { Compiler } from './compiler.ts';
import type { StaticGraphSchemas } from './static-schemas.ts';
import { isReference, TypeReader } from './type-reader.ts';
import { SchemaWriter, type TypedProperty } from './type-schema.ts';

/** Reads the schemas of graphs from their types, known by names of members that all versions of the engine share. */
export function graphTypes(compiler: Compiler, program: ts.Program) {
  const checker = program.getTypeChecker();
  const reader = new TypeReader(compiler, program);
  const writer = new SchemaWriter(reader);

  /** The type of the builder behind an export: of a compiled graph, a builder, an agent with one, or their factory. */
  function builderOf(type: ts.Type, depth = 0): ts.Type | undefined {
    if (depth > 4) return undefined;
    const made = checker.getAwaitedType(type) ?? type;
    if (hasParameters(made)) return made;
    for (const name of ['builder', 'graph']) {
      const member = made.getProperty(name);
      const found = member && builderOf(checker.getTypeOfSymbol(member), depth + 1);
      if (found) return found;
    }
    return undefined;
  }

  /** Of a factory, the builder of what it returns. */
  function builderBehind(type: ts.Type): ts.Type | undefined {
    const factory = type.getCallSignatures().at(-1);
    return builderOf(type) ?? (factory && builderOf(factory.getReturnType()));
  }

  /** The arguments of `StateGraph` by the names of its parameters: state, update, input, output, context. */
  function parametersOf(type: ts.Type): Map<string, ts.Type> {
    if (!isReference(compiler, type)) return new Map();
    const types = checker.getTypeArguments(type);
    const names = (type.target.typeParameters ?? []).map((parameter) => parameter.symbol.name);
    return new Map(names.flatMap((name, at) => (types[at] ? [[name, types[at]] as const] : [])));
  }

  const hasParameters = (type: ts.Type): boolean => {
    const parameters = parametersOf(type);
    return ['S', 'U', 'I', 'O', 'C'].every((name) => parameters.has(name)) && type.getProperty('compile') !== undefined;
  };

  function schemasOf(builder: ts.Type): StaticGraphSchemas {
    const parameters = parametersOf(builder);
    const object = (properties: readonly TypedProperty[]): FreeObject | undefined =>
      properties.length > 0 ? writer.objectOf(properties) : undefined;
    const properties = (name: string): TypedProperty[] => {
      const type = parameters.get(name);
      return type ? reader.properties(type) : [];
    };
    const channels = (name: string, field: 'ValueType' | 'UpdateType'): TypedProperty[] => {
      const type = parameters.get(name);
      return type ? channelsOf(type, field) : [];
    };
    const orElse = (first: TypedProperty[], second: TypedProperty[]) => (first.length > 0 ? first : second);
    const schemas = {
      state: object(properties('S')),
      input: object(orElse(channels('I', 'UpdateType'), properties('U'))),
      output: object(orElse(channels('O', 'ValueType'), properties('S'))),
      context: object(channels('C', 'UpdateType')),
    };
    return Object.fromEntries(Object.entries(schemas).filter(([, schema]) => schema !== undefined));
  }

  /** The types of channels: values of the state, or updates of a node. A schema with types at run time has none. */
  function channelsOf(definition: ts.Type, field: 'ValueType' | 'UpdateType'): TypedProperty[] {
    const spec = definition.getProperty('spec');
    const defined = spec && definition.getProperty('State') ? checker.getTypeOfSymbol(spec) : definition;
    return reader.properties(defined, { withFunctions: true }).flatMap(({ name, type, description }) => {
      const made = type.getProperty(field) ? type : type.getCallSignatures().at(-1)?.getReturnType();
      const member = made?.getProperty(field);
      return member ? [{ name, type: checker.getTypeOfSymbol(member), description }] : [];
    });
  }

  return {
    /** The schemas of an export of a file; undefined if it is of no graph with a state. */
    ofExport(file: string, exportName: string): StaticGraphSchemas | undefined {
      const source = program.getSourceFile(file);
      const module = source && checker.getSymbolAtLocation(source);
      const exported = module && checker.getExportsOfModule(module).find(({ name }) => name === exportName);
      const builder = exported && builderBehind(checker.getTypeOfSymbol(exported));
      return builder && schemasOf(builder);
    },

    /** The schemas of graphs that the agent's own files add to others as nodes, by the nodes' names. */
    ofNodes(): Record<string, StaticGraphSchemas[]> {
      const found = new Map<string, StaticGraphSchemas[]>();
      const visit = (node: ts.Node): void => {
        for (const [name, value] of addedNodes(compiler, node)) {
          const builder = builderOf(checker.getTypeAtLocation(value));
          if (builder) found.set(name, [...(found.get(name) ?? []), schemasOf(builder)]);
        }
        compiler.forEachChild(node, visit);
      };
      for (const file of program.getSourceFiles()) {
        if (!file.isDeclarationFile && !program.isSourceFileFromExternalLibrary(file)) visit(file);
      }
      return Object.fromEntries(found);
    },
  };
}

/** The nodes of a call `addNode('name', value)` or `addNode({ name: value })`. */
function addedNodes(compiler: Compiler, call: ts.Node): [name: string, value: ts.Node][] {
  if (!compiler.isCallExpression(call) || !compiler.isPropertyAccessExpression(call.expression)) return [];
  if (call.expression.name.text !== 'addNode') return [];
  const [first, second] = call.arguments;
  if (first && second && compiler.isStringLiteralLike(first)) return [[first.text, second]];
  if (!first || !compiler.isObjectLiteralExpression(first)) return [];
  return first.properties.flatMap((property): [string, ts.Node][] => {
    if (compiler.isShorthandPropertyAssignment(property)) return [[property.name.text, property.name]];
    if (!compiler.isPropertyAssignment(property)) return [];
    const { name, initializer } = property;
    return compiler.isIdentifier(name) || compiler.isStringLiteralLike(name) ? [[name.text, initializer]] : [];
  });
}
