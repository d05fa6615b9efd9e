/** JSON as `JSON.parse` reads it. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | Members
export interface Members {
  readonly [key: string]: JsonValue
}

/** A change of the latest payload (interface 7.4, 4.4, legacy form). */
export interface ModelDelta {
  readonly set?: Members
  readonly remove?: readonly string[]
}

/** The payload a delta makes: `set` merged into the root, then the paths of `remove` taken out. */
export function applyDelta(base: Members | undefined, { set = {}, remove = [] }: ModelDelta): Members {
  const merged = Object.entries(merge(base ?? {}, set)).filter(([, value]) => value !== null)
  return remove.reduce((data, path) => without(data, path.split('.')), Object.fromEntries(merged))
}

/** Whether a delta removes a path that is not there; the url of a managed handler is shown, and so may be removed. */
export function removesAbsent(base: Members | undefined, { set = {}, remove = [] }: ModelDelta): boolean {
  const merged = merge(base ?? {}, set)
  const isShown = (path: string): boolean => path === 'url' && handlerOf(base ?? {}).provider === 'svc'
  const isThere = (path: string): boolean =>
    path.split('.').reduce<JsonValue | undefined>(member, merged) !== undefined
  return remove.some((path) => !isThere(path) && !isShown(path))
}

function merge(base: Members, change: Members): Members {
  const changed = Object.entries(change).map(([key, value]) => {
    const before = Object.hasOwn(base, key) ? base[key] : undefined
    return [key, isMembers(value) && isMembers(before) ? merge(before, value) : value] as const
  })
  return { ...base, ...Object.fromEntries(changed) }
}

function without(data: Members, [key = '', ...rest]: readonly string[]): Members {
  const value = Object.hasOwn(data, key) ? data[key] : undefined
  if (rest.length > 0) return isMembers(value) ? { ...data, [key]: without(value, rest) } : data
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== key))
}

/** The payload as a reader sees it: with the url that a managed handler is served at (interface 7.4). */
export function presentData(data: Members, publicUrl: string, revisionId: string): Members {
  const { provider, key, version } = handlerOf(data)
  if (provider !== 'svc' || data['url'] !== undefined) return data
  return { ...data, url: `${publicUrl}/services/${key}/${version}/${revisionId}` }
}

/** What a payload says about its revision (interface 7.10); the models' handlers are custom ones. */
export function derivedFlags(data: Members | undefined): Readonly<Record<string, boolean>> {
  const { provider, kind, key } = handlerOf(data ?? {})
  return {
    is_managed: provider === 'svc',
    is_custom: kind === 'custom',
    is_llm: ['llm', 'completion', 'chat'].includes(key ?? ''),
    is_hook: key === 'hook',
    is_code: key === 'code',
    is_match: key === 'match',
    is_feedback: key === 'feedback',
    is_agent: key === 'agent',
    is_skill: key === 'skill',
    is_chat: key === 'chat' || takesMessages(data),
    has_url: provider === 'svc' || data?.['url'] !== undefined,
    has_script: typeof data?.['script'] === 'string' && data['script'] !== '',
    has_handler: false,
    is_static: false,
  }
}

function handlerOf(data: Members): Readonly<Record<'provider' | 'kind' | 'key' | 'version', string>> {
  const [provider = '', kind = '', key = '', version = ''] = String(data['uri'] ?? '').split(':')
  return { provider, kind, key, version }
}

function takesMessages(data: Members | undefined): boolean {
  const properties = member(member(member(data, 'schemas'), 'inputs'), 'properties')
  if (!isMembers(properties)) return false
  return Object.values(properties).some((it) =>
    ['messages', 'message'].includes(String(member(it, 'x-svc-type-ref'))),
  )
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isMembers(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Whether a value is a JSON object. */
export function isMembers(value: JsonValue | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
