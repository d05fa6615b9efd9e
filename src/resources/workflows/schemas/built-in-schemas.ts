import type { HandlerUri } from '../handler-uri.ts'
import { effectiveVersion, isManaged } from '../handler-uri.ts'
import type { BuiltInSchemas } from './built-in.ts'
import { evaluatorSchemas } from './evaluator-schemas.ts'
import { judgeSchemas } from './judge-schemas.ts'
import { matchSchemas } from './match-schemas.ts'
import { promptSchemas } from './prompt-schemas.ts'

/** The interface of a built-in handler; undefined for other handlers and for those that fix no schema. */
export function builtInSchemas(uri: HandlerUri | undefined): BuiltInSchemas | undefined {
  if (!isManaged(uri) || uri.kind !== 'builtin' || effectiveVersion(uri) !== 'v0') return undefined
  return interfaces.get(uri.key)
}

const interfaces: ReadonlyMap<string, BuiltInSchemas> = new Map<string, BuiltInSchemas>([
  ...Object.entries(promptSchemas()),
  ...Object.entries(evaluatorSchemas()),
  ...Object.entries(judgeSchemas()),
  ['match', matchSchemas()],
])
