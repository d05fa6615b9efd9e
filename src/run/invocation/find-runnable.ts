import { LRUCache } from 'lru-cache'
import { Refusal } from '../../errors.ts'
import { handlerTable, workflowFamily, workflowSurfaces } from '../handlers/workflows.ts'
import type { JsonObject } from '../../base/json.ts'
import { acceptWorkflowData } from '../../registry/workflows.ts'
import { documentOf } from '../../registry/families.ts'
import { objectUuid, type Reference, type References, type Registry } from '../../registry/registries.ts'
import {
  revisionById,
  retrieveRevision,
  type Revision,
  type RevisionLocation,
  readListedRevision,
  readRevisionAt,
} from '../../registry/revisions.ts'
import type { InvocationRequest } from './invocation-request.ts'
import type { Runnable } from './effective.ts'

/** The parts of a request that say which workflow to run. */
export type WorkflowSought = Pick<
  InvocationRequest,
  'revisionId' | 'inline' | 'inlineLoc' | 'references' | 'selectorKey'
>

/** A workflow to run, and the deployment that led to it. */
export interface FoundRunnable extends Runnable {
  readonly through?: { readonly key: string; readonly environment: Revision } | undefined
  /** The name that the references use for it: `application`, `evaluator`, `workflow` …; undefined if they do not lead to it. */
  readonly namedAs?: string | undefined
}

/**
 * The workflow of a request (interface 12.1): the revision that its address is bound to, else the workflow that it contains, else the one
 * that its references name. Without any, a handler runs alone. Refuses as `retrieveRevision` does, and refuses invalid workflows in the
 * request, and references to workflows of several kinds.
 */
export async function findRunnable(registry: Registry, request: WorkflowSought): Promise<FoundRunnable> {
  if (request.revisionId !== undefined) return bound(registry, request.revisionId)
  if (request.inline) {
    const loc = request.inlineLoc ?? ['body', 'data', 'revision', 'data']
    const { servicesBase } = registry
    const { data } = acceptWorkflowData(request.inline.data, { loc, servicesBase }, handlerTable)
    return { data, inline: request.inline }
  }
  const named = workflowNamed(request.references ?? NO_REFERENCES)
  if (!named) return NOTHING
  const { environment, singular, ...references } = named
  if (!environment || references.variant || references.revision) assertIdentifies(singular, references)
  else assertIdentifies('environment', environment)
  const surface = workflowSurfaces.find((it) => it.singular === singular) ?? ANY_WORKFLOW
  const place = await retrieveRevision(
    registry,
    workflowFamily,
    { environment, key: request.selectorKey, ...references },
    surface,
  )
  const { through } = place
  const deployedBy = through && (await readListedRevision(through.environment))
  return {
    ...runnableOf(await revisionAt(registry, place)),
    ...(deployedBy && { through: { key: through.key, environment: deployedBy } }),
    namedAs: singular,
  }
}

/** The revision with this id. While nothing changed, it is not searched again: a search costs as much as all other work of a run. */
async function bound(registry: Registry, id: string): Promise<FoundRunnable> {
  const { index } = registry
  const before = known.get(id)
  const generation = before?.registry === registry ? before.generation : undefined
  if (before && generation !== undefined && index.isUnchangedSince(generation, before.revision.artifact))
    return runnableOf(before.revision)
  const now = index.generation
  const place = await revisionById(registry, workflowFamily, id)
  return runnableOf(await revisionAt(registry, place, now))
}

function runnableOf(revision: Revision): FoundRunnable {
  const { payload } = revision.stored
  return { data: payload ? documentOf(payload) : EMPTY, stored: revision }
}

/**
 * The revision at a place. While nothing changed, it is the same object each time, so values cached for it are reused. `generation` is the
 * index's generation before a search by the id alone.
 */
async function revisionAt(
  registry: Registry,
  { artifact, variant, oid, version }: RevisionLocation,
  generation?: number,
): Promise<Revision> {
  const id = objectUuid(oid, artifact.digits)
  const before = known.get(id)
  const isSame = before?.revision.artifact === artifact && before.revision.variant === variant
  const revision = isSame ? before.revision : await readRevisionAt({ artifact, variant, oid, version })
  known.set(id, { registry, revision, generation: generation ?? (isSame ? before.generation : undefined) })
  return revision
}

/** A recently run revision, and the generation of the index in which its id alone led to it. */
interface Known {
  readonly registry: Registry
  readonly revision: Revision
  readonly generation: number | undefined
}

/** Recently run revisions by id, with their payloads in memory. */
const known = new LRUCache<string, Known>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: ({ revision }) => sizeOf(revision),
})

/**
 * Approximate bytes of memory: a decoded payload takes three times its text. The view of its artifact counts too, because each revision may
 * keep another view.
 */
function sizeOf({ artifact, stored: { size } }: Revision): number {
  return 3 * size + 2000 + 100 * (artifact.tags.size + artifact.source.refs.refs.size)
}

const EMPTY: JsonObject = {}
const NOTHING: FoundRunnable = { data: EMPTY }
const NO_REFERENCES: ReadonlyMap<string, Reference> = new Map()
const ANY_WORKFLOW = { singular: 'workflow', fixedFlags: {} }

interface NamedWorkflow extends References {
  readonly singular: string
  readonly environment: References | undefined
}

/** The workflow that the references name; undefined if they name none. */
function workflowNamed(references: ReadonlyMap<string, Reference>): NamedWorkflow | undefined {
  const kinds = KINDS.filter(({ names }) => names.some((name) => references.has(name)))
  if (kinds.length > 1) {
    throw new Refusal(
      'contradictory_request',
      `references name things of several kinds (${kinds.map(({ singular }) => singular).join(', ')}); only one can run. Name one of them.`,
    )
  }
  const environment = levelsOf(references, ENVIRONMENT)
  const [kind] = kinds
  if (kind === undefined && !environment) return undefined
  return {
    singular: kind?.singular ?? 'workflow',
    ...(kind && levelsOf(references, kind)),
    environment,
  }
}

/** A kind of workflow in references, and the names of its artifact, variant and revision. */
interface Kind {
  readonly singular: string
  readonly names: readonly [string, string, string]
}

function kindOf(singular: string): Kind {
  return { singular, names: [singular, `${singular}_variant`, `${singular}_revision`] }
}

/** The kinds of workflows that can be run. */
const KINDS = ['workflow', 'application', 'evaluator', 'snippet'].map(kindOf)
const ENVIRONMENT = kindOf('environment')

function levelsOf(references: ReadonlyMap<string, Reference>, { names }: Kind): References | undefined {
  const artifact = references.get(names[0])
  const variant = references.get(names[1])
  const revision = references.get(names[2])
  return (artifact ?? variant ?? revision) ? { artifact, variant, revision } : undefined
}

/** Refuses references whose most exact one is empty, with its name in the request. */
function assertIdentifies(singular: string, { artifact, variant, revision }: References): void {
  const { id, slug, version } = revision ?? variant ?? artifact ?? {}
  if ((id ?? slug) !== undefined) return
  if (revision && version !== undefined && (variant ?? artifact)) return
  const level = revision ? '_revision' : variant ? '_variant' : ''
  throw new Refusal(
    'incomplete_reference',
    `references.${singular}${level} identifies nothing; it needs an id or a slug.`,
  )
}
