import { LRUCache } from 'lru-cache'
import { Refusal } from '../errors.ts'
import { handlerTable, workflowFamily, workflowSurfaces } from '../handlers/workflows.ts'
import type { JsonObject } from '../json/json.ts'
import { acceptWorkflowData } from '../resources/workflows/workflow-data.ts'
import type { ArtifactView } from '../versioning/artifacts/artifact-view.ts'
import { documentOf } from '../versioning/family/document-family.ts'
import { repositoryDigits } from '../versioning/ids.ts'
import type { Reference, References } from '../versioning/reference.ts'
import type { Registry } from '../versioning/registry.ts'
import { revisionById } from '../versioning/revisions/references.ts'
import type { RetrievedRevision } from '../versioning/revisions/retrieve-revision.ts'
import { retrieveRevision } from '../versioning/revisions/retrieve-revision.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
import { readListedRevision, readRevisionAt } from '../versioning/revisions/revision.ts'
import type { InvocationRequest } from './invocation-request.ts'
import type { Runnable } from './runnable.ts'

/** What of a request says which workflow it means. */
export type WorkflowSought = Pick<
  InvocationRequest,
  'revisionId' | 'inline' | 'inlineLoc' | 'references' | 'selectorKey'
>

/** A workflow to run, and the deployment it was found through. */
export interface FoundRunnable extends Runnable {
  readonly through?: { readonly key: string; readonly environment: Revision } | undefined
  /** As what the references name it: `application`, `evaluator`, `workflow` …; undefined where they do not lead to it. */
  readonly namedAs?: string | undefined
}

/**
 * The workflow that a request means (interface 12.1): the revision its address is bound to, else one that it brings, else the
 * one its references name. None of them leaves a handler without a workflow. Refuses as `retrieveRevision` does, what is brought and
 * is no workflow, and references to workflows of several kinds.
 */
export function findRunnable(
  registry: Registry,
  request: WorkflowSought,
): FoundRunnable | Promise<FoundRunnable> {
  if (request.revisionId !== undefined) return bound(registry, request.revisionId)
  return sought(registry, request)
}

async function sought(registry: Registry, request: WorkflowSought): Promise<FoundRunnable> {
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
  return { ...(await stored(registry, place)), namedAs: singular }
}

/** The revision of this id, without a search while nothing moved. */
function bound(registry: Registry, id: string): FoundRunnable | Promise<FoundRunnable> {
  const known = foundBefore.get(id)
  if (known?.registry === registry && registry.index.isUnchangedSince(known.generation, known.view))
    return known.found
  return findBound(registry, id, known)
}

/** What a view of its artifact said of a revision stays true of that view, and so is not asked again. */
async function findBound(registry: Registry, id: string, known: Found | undefined): Promise<FoundRunnable> {
  const { generation } = registry.index
  const view = await registry.index.findByDigits(repositoryDigits(id))
  if (known && known.view === view) {
    foundBefore.set(id, { ...known, generation })
    return known.found
  }
  const found = await stored(registry, await revisionById(registry, workflowFamily, id))
  if (found.stored) foundBefore.set(id, { registry, generation, view: found.stored.artifact, found })
  return found
}

/** A revision that was asked to run, in which view it was found, and when the index was still. */
interface Found {
  readonly registry: Registry
  readonly generation: number
  readonly view: ArtifactView
  readonly found: FoundRunnable
}

const MOST_KEPT = 16 * 1024 * 1024

/** Those asked for lately, by id. What is kept holds its payload in memory. */
const foundBefore = new LRUCache<string, Found>({
  maxSize: MOST_KEPT,
  sizeCalculation: ({ found }) => sizeOf(found.stored),
})

async function stored(registry: Registry, place: RetrievedRevision): Promise<FoundRunnable> {
  const revision = await revisionAt(registry, place)
  const { payload } = revision.stored
  const data = payload ? documentOf(payload) : EMPTY
  const { through } = place
  if (!through) return { data, stored: revision }
  const environment = await readListedRevision(registry, through.environment)
  return { data, stored: revision, through: { key: through.key, environment } }
}

/** What is stored at a place: while nothing moved, the same revision each time, with which what is made of it is kept. */
async function revisionAt(registry: Registry, place: RetrievedRevision): Promise<Revision> {
  const { artifact, variant, oid, version } = place
  const known = readBefore.get(oid)
  if (known?.artifact === artifact && known.variant === variant) return known
  const revision = await readRevisionAt(registry, { artifact, variant, oid, version })
  readBefore.set(oid, revision)
  return revision
}

const readBefore = new LRUCache<string, Revision>({ maxSize: MOST_KEPT, sizeCalculation: sizeOf })

/**
 * Bytes of memory, roughly: a decoded payload takes three times its text. With the view of its artifact, which is kept with it and may
 * be another one for each revision.
 */
function sizeOf(revision: Revision | undefined): number {
  if (!revision) return 1000
  const { tags, source } = revision.artifact
  return 3 * revision.stored.size + 2000 + 100 * (tags.size + source.refs.refs.size)
}

const EMPTY: JsonObject = {}
const NOTHING: FoundRunnable = { data: EMPTY }
const NO_REFERENCES: ReadonlyMap<string, Reference> = new Map()
const ANY_WORKFLOW = { singular: 'workflow', fixedFlags: {} }

interface NamedWorkflow extends References {
  readonly singular: string
  readonly environment: References | undefined
}

/** What of the references says which workflow runs; undefined if nothing does. */
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

/** What references can name, and the names for its artifact, its variant and its revision. */
interface Kind {
  readonly singular: string
  readonly names: readonly [string, string, string]
}

function kindOf(singular: string): Kind {
  return { singular, names: [singular, `${singular}_variant`, `${singular}_revision`] }
}

/** As what a workflow can be asked to run. */
const KINDS = ['workflow', 'application', 'evaluator', 'snippet'].map(kindOf)
const ENVIRONMENT = kindOf('environment')

function levelsOf(references: ReadonlyMap<string, Reference>, { names }: Kind): References | undefined {
  const artifact = references.get(names[0])
  const variant = references.get(names[1])
  const revision = references.get(names[2])
  return (artifact ?? variant ?? revision) ? { artifact, variant, revision } : undefined
}

/** Refuses references of which the deciding one says nothing, by the name that the request has for it. */
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
