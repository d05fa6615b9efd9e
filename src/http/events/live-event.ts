import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  stringifyJson,
} from '../../base/json.ts'
import type { ArtifactChange, Registry } from '../../registry/registries.ts'
import type { Evaluation, PinnedRevision } from '../../run/evaluations.ts'
import type { RegistryEvent } from '../../feeds/webhooks.ts'

/** The kinds of events. */
export type EventKind = 'artifact' | 'revision' | 'deployment' | 'evaluation'

/** An event for clients that follow a project. */
export interface LiveEvent {
  readonly kind: EventKind
  /** Kind, action, references, date, author; the family of an artifact, the subject of a commit, the changes of a deployment. */
  readonly data: JsonObject
}

/** A webhook's event in the form for clients. */
export function liveEventOf({ type, timestamp, data }: RegistryEvent): LiveEvent {
  const [level = '', what = ''] = type.split('.')
  const actor = getKey(data, 'actor')
  const kind = level === 'environment' ? 'deployment' : level === 'revision' ? 'revision' : 'artifact'
  const rest = entriesOf(data).filter(([name, value]) => !LEFT_OUT.has(name) && !isLong(name, value))
  return liveEvent(kind, level === 'variant' ? `variant_${what}` : what, timestamp, textOf(actor), rest)
}

/** The event that an artifact is gone or unreadable. */
export function removalOf({ family, slug, id }: ArtifactChange, isGone: boolean, now: Date): LiveEvent {
  return liveEvent('artifact', isGone ? 'removed' : 'damaged', now.toISOString(), null, [
    ['family', family.folder],
    ['references', fromEntries([[family.name, { id, slug }]])],
  ])
}

/** The event that an evaluation has begun or ended: `started`, `finished` or `interrupted`. */
export function evaluationEvent({ plan, state, finishedAt }: Evaluation, now: Date): LiveEvent {
  const action = state === 'running' ? 'started' : state
  return liveEvent('evaluation', action, finishedAt ?? now.toISOString(), plan.created_by, [
    [
      'references',
      fromEntries([
        ['evaluation', { id: plan.id }],
        ['testset_revision', pinned(plan.testset)],
        ['application_revision', pinned(plan.application)],
      ]),
    ],
  ])
}

/** The author has a member of its own; of the message, which may be long, only the subject is sent. */
const LEFT_OUT: ReadonlySet<string> = new Set(['actor', 'message'])

/** A very long diff of a deployment is left out; the environment's revision has it. */
function isLong(name: string, value: Json): boolean {
  return name === 'diff' && stringifyJson(value).length > 8192
}

function liveEvent(
  kind: EventKind,
  action: string,
  date: string,
  author: string | null,
  rest: readonly (readonly [string, Json])[],
): LiveEvent {
  return {
    kind,
    data: fromEntries([['kind', kind], ['action', action], ...rest, ['date', date], ['author', author]]),
  }
}

function textOf(actor: Json | undefined): string | null {
  if (!isJsonObject(actor)) return null
  return `${String(getKey(actor, 'name'))} <${String(getKey(actor, 'email'))}>`
}

function pinned({ revision_id: id, revision_slug: slug, version }: PinnedRevision): Json {
  return { id, slug, version }
}

/** What a key that is limited to folders sees; see RegistryLimit. */
export type EventLimit = Pick<NonNullable<Registry['limit']>, 'seesId'>

/**
 * The event as a limited key sees it (interface 18.9): undefined unless the key sees all that it names. Of an environment it says only that
 * it changed, because messages and deployments may be about others.
 */
export function limitedEvent({ kind, data }: LiveEvent, { seesId }: EventLimit): LiveEvent | undefined {
  const references = getKey(data, 'references')
  const named = isJsonObject(references) ? entriesOf(references) : []
  const isSeen = named.every(([name, reference]) => {
    const id = isJsonObject(reference) ? getKey(reference, 'id') : undefined
    return name === 'evaluation' || (typeof id === 'string' && seesId(id))
  })
  if (named.length === 0 || !isSeen) return undefined
  if (!named.some(([name]) => name.startsWith('environment'))) return { kind, data }
  return {
    kind,
    data: fromEntries(entriesOf(data).filter(([name]) => OF_ENVIRONMENTS.has(name))),
  }
}

/** What is said of an event of an environment. */
const OF_ENVIRONMENTS: ReadonlySet<string> = new Set([
  'kind',
  'action',
  'family',
  'references',
  'date',
  'author',
])
