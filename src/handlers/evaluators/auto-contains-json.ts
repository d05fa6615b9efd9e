import type { Json } from '../../json/json.ts'
import { closedObject } from '../../resources/workflows/schemas/object-schema.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'
import { parsesAsJson } from '../metrics/parses-as-json.ts'
import { neededOutputs } from '../scoring/needed-outputs.ts'
import { passed } from '../scoring/schema-parts.ts'

/** `svc:builtin:auto_contains_json:v0` (contract/handlers 2.3): whether what is from the first `{` to the last `}` is JSON. */
export const autoContainsJson: HandlerDefinition = {
  key: 'auto_contains_json',
  kind: 'builtin',
  schemas: { parameters: closedObject({}), outputs: passed },
  template: {
    name: 'Contains JSON',
    description: 'Passes when there is a JSON object somewhere in the output.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  example: { outputs: 'Here it is: {"city":"Paris"}' },
  run,
}

function run(request: HandlerRequest): Json {
  const outputs = neededOutputs(request)
  if (typeof outputs !== 'string') return { success: true }
  const start = outputs.indexOf('{')
  const end = outputs.lastIndexOf('}')
  return { success: start !== -1 && start < end && parsesAsJson(outputs.slice(start, end + 1)) }
}
