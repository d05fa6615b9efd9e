import { isJsonArray, type Json } from '../../json/json.ts'
import { closedObject } from '../../resources/workflows/schemas/object-schema.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'
import { containsDocument } from '../metrics/contains-document.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { passed } from '../scoring/schema-parts.ts'

/** `svc:builtin:auto_contains_json:v0` (interface 11.6): whether a JSON object or array stands whole in the outputs, or is them. */
export const autoContainsJson: HandlerDefinition = {
  key: 'auto_contains_json',
  kind: 'builtin',
  schemas: { parameters: closedObject({}), outputs: passed },
  template: {
    name: 'Contains JSON',
    description: 'Passes when there is a JSON object or array somewhere in the output.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  example: { outputs: 'Here it is: {"city":"Paris"}' },
  run,
}

function run(request: HandlerRequest): Json {
  if (isJsonArray(request.outputs)) return { success: true }
  const outputs = neededOutputs(request)
  return { success: typeof outputs !== 'string' || containsDocument(outputs) }
}
