import type { Json, PlainObject } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import type { Handler, HandlerDefinition } from '../handler.ts'
import { passed } from '../scoring.ts'

/** What distinguishes an evaluator that searches for text. */
export interface TextTest {
  readonly key: string
  readonly name: string
  readonly description: string
  /** Its parameter in the example. */
  readonly sought: Json
}

/**
 * An evaluator that searches for a parameter's text in the output. Presets of the regex test supersede all of
 * these.
 */
export function textTest(
  parameter: string,
  schema: PlainObject,
  { key, sought, ...about }: TextTest,
  run: Handler,
): HandlerDefinition {
  const caseSensitive = {
    type: 'boolean',
    default: true,
    'x-svc-type': 'bool',
    title: 'Tell A from a',
    description: 'If off, Paris and paris are the same text.',
  }
  return {
    key,
    kind: 'builtin',
    schemas: {
      parameters: closedObject({ [parameter]: schema, case_sensitive: caseSensitive }, [parameter]),
      outputs: passed,
    },
    template: { ...about, roles: 'evaluator', categories: ['classifiers'], isArchived: true },
    example: { parameters: { [parameter]: sought }, outputs: 'Paris, on the Seine' },
    run,
  }
}
