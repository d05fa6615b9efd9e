import type { HandlerUri } from '../handler-uri.ts'
import { effectiveVersion, isManaged } from '../handler-uri.ts'
import type { BuiltInInterface } from './built-in.ts'
import { evaluatorInterfaces } from './evaluator-schemas.ts'
import { judgeInterfaces } from './judge-schemas.ts'
import { matchInterface } from './match-schemas.ts'
import { promptInterfaces } from './prompt-schemas.ts'

/** The interface of a built-in handler; undefined for other handlers and for those that fix no schema. */
export function builtInInterface(uri: HandlerUri | undefined): BuiltInInterface | undefined {
  if (!isManaged(uri) || uri.kind !== 'builtin' || effectiveVersion(uri) !== 'v0') return undefined
  return interfaces.get(uri.key)
}

const interfaces: ReadonlyMap<string, BuiltInInterface> = new Map<string, BuiltInInterface>([
  ...Object.entries(promptInterfaces()),
  ...Object.entries(evaluatorInterfaces()),
  ...Object.entries(judgeInterfaces()),
  ['match', matchInterface()],
])
