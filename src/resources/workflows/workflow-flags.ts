import { entriesOf, getKey, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { handlerOf, isManaged, isSkill } from './handler-uri.ts'

/** The flags that `deriveFlags` gives, in wire order (interface 7.10). */
export const derivedFlagNames = [
  'is_managed',
  'is_custom',
  'is_llm',
  'is_hook',
  'is_code',
  'is_match',
  'is_feedback',
  'is_agent',
  'is_skill',
  'is_chat',
  'has_url',
  'has_script',
  'has_handler',
  'is_static',
] as const

/** The handlers that send a prompt to a model. */
const RUN_A_MODEL: readonly string[] = ['llm', 'completion', 'chat']

/**
 * What a revision's data says about it (interface 7.10); all false for a revision without data.
 * `has_handler` is false because no handler is registered over HTTP, `is_static` because no stored revision is one that
 * ships with the service. Never fails, whatever a push has put into the data.
 */
export function deriveFlags(
  data: JsonObject | undefined,
): Readonly<Record<(typeof derivedFlagNames)[number], boolean>> {
  const field = (key: string): Json | undefined => (data === undefined ? undefined : getKey(data, key))
  const text = (key: string): string => (typeof field(key) === 'string' ? String(field(key)) : '')
  const uri = data && handlerOf(data)
  const runs = !isSkill(uri)
  return {
    is_managed: isManaged(uri),
    is_custom: uri?.kind === 'custom',
    is_llm: uri !== undefined && RUN_A_MODEL.includes(uri.key),
    is_hook: uri?.key === 'hook',
    is_code: uri?.key === 'code',
    is_match: uri?.key === 'match',
    is_feedback: uri?.key === 'feedback',
    is_agent: uri?.key === 'agent',
    is_skill: uri?.key === 'skill',
    is_chat: uri?.key === 'chat' || takesMessages(field('schemas')),
    has_url: runs && (isManaged(uri) || text('url') !== ''),
    has_script: runs && text('script') !== '',
    has_handler: false,
    is_static: false,
  }
}

/** Whether a property of the inputs is of the catalog's type for a message or a list of them. */
function takesMessages(schemas: Json | undefined): boolean {
  const inputs = isJsonObject(schemas) ? getKey(schemas, 'inputs') : undefined
  const properties = isJsonObject(inputs) ? getKey(inputs, 'properties') : undefined
  if (!isJsonObject(properties)) return false
  return entriesOf(properties).some(([, property]) => {
    const type = isJsonObject(property) ? getKey(property, 'x-svc-type-ref') : undefined
    return type === 'messages' || type === 'message'
  })
}
