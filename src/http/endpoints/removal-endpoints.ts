import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import {
  type ArtifactView,
  flatten,
  type ArtifactUser,
  purgeTrash,
  trashArtifact,
  undeleteArtifact,
  type Trashed,
} from '../../registry/artifacts.ts'
import type { Family } from '../../registry/families.ts'
import { parseUuid, repositoryDigits, type Registry } from '../../registry/registries.ts'
import { artifactById } from '../../registry/revisions.ts'
import { presentFlat } from '../revisions/record.ts'
import { type EndpointResponse, type Endpoint, artifactIn, endpoint, named } from '../routing/endpoint.ts'
import { inWordsOf } from '../routing/answers.ts'
import { flatRecord, list, single, trashedRecord } from '../schemas/record-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { queryDependents } from '../../registry/embeds.ts'
import type { ProjectEvaluations } from '../../run/evaluations.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ProjectTraces } from '../../feeds/traces.ts'
import { type ProjectWebhooks, namesArtifact } from '../../feeds/webhooks.ts'

/** Removes artifacts made by mistake, and restores them (interface 4.32). */
export function removalEndpoints(surfaces: readonly SurfaceContext[], places: UserPlaces): Endpoint[] {
  return [
    ...surfaces.flatMap((context) => inWordsOf(context, ofSurface(context, places))),
    ...trashEndpoints(),
  ]
}

function ofSurface({ surface, present, records }: SurfaceContext, places: UserPlaces): Endpoint[] {
  const { family, singular, plural } = surface
  const path = `/simple/${surface.path}/:id`
  const tag = `simple ${plural}`
  const when = { trashed_at: z.string(), until: z.string() }
  const answer = async (artifact: ArtifactView, trashed?: Trashed): Promise<EndpointResponse> => ({
    body: {
      count: 1,
      [singular]: {
        ...(await presentFlat(await flatten(artifact), present)),
        ...(trashed ? { trashed_at: trashed.trashed_at, until: trashed.until } : {}),
      },
    },
    address: { id: artifact.id },
  })

  return [
    endpoint({
      method: 'DELETE',
      path,
      tag,
      summary: `Remove ${article(singular)} that nothing refers to; it can be brought back for 30 days`,
      scope: 'write',
      ...named,
      output: single(singular, flatRecord([...family.roles, ...family.flagNames], when)),
      run: async ({ registry, params, context, caller }) => {
        const artifact = await artifactIn(registry, family, params)
        try {
          if (artifact.whole) throw environmentClosed()
          // What needs it may be what the key does not see.
          const { whole } = registry
          const trashed = await trashArtifact(whole, artifact, context, () =>
            usersOf(places, whole, artifact),
          )
          return await answer(trashed.artifact, trashed)
        } catch (error) {
          throw caller.may.read && !registry.limit ? error : withoutUsers(error)
        }
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/undelete`,
      tag,
      summary: `Bring ${article(singular)} back that was removed, exactly as it was`,
      scope: 'write',
      ...named,
      output: single(singular, records.flat),
      run: async ({ registry, params, context }) => {
        const trashed = await trashedOf(registry, params['id'] ?? '', family)
        // An artifact that exists was restored already or never removed.
        return answer(
          trashed
            ? await undeleteArtifact(registry.whole, trashed, context)
            : await artifactIn(registry, family, params),
        )
      },
      recall: async ({ registry }, { id }) => answer(await artifactById(registry, family, id)),
    }),
  ]
}

function trashEndpoints(): Endpoint[] {
  const tag = 'trash'
  return [
    endpoint({
      method: 'GET',
      path: '/trash',
      tag,
      summary: 'List what was removed and can be brought back, the last removed first',
      scope: 'read',
      output: list('trash', trashedRecord),
      run: async ({ registry }) => {
        const trash = (await registry.trash.list()).map(presentTrashed)
        return { body: { count: trash.length, trash } }
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/trash/:id',
      tag,
      summary: 'Remove for good, before its time, what lies in the trash',
      scope: 'admin',
      output: single('trash', trashedRecord),
      run: async ({ registry, params }) => {
        const id = params['id'] ?? ''
        const trashed = await trashedOf(registry, id)
        const [purged] = trashed ? await purgeTrash(registry, trashed) : []
        if (!purged) {
          throw new Refusal(
            'artifact_not_found',
            `Nothing with the id ${id} lies in the trash. GET /trash lists what does.`,
          )
        }
        return { body: { count: 1, trash: presentTrashed(purged) } }
      },
    }),
  ]
}

/** Finds a removed artifact by id, else by slug, as paths name things. */
async function trashedOf(
  { trash, index, store }: Registry,
  name: string,
  family?: Family,
): Promise<Trashed | undefined> {
  const id = parseUuid(name)
  // While the store is filling, a lookup loads the artifact, also into the trash.
  if (store.filling && id !== undefined) await index.findByDigits(id)
  if (store.filling && family) await index.findBySlug(family, name)
  const found = id === undefined ? undefined : await trash.withDigits(id)
  if (found && found.artifact.id === id && (!family || found.artifact.family === family)) return found
  return family && trash.holderOf('artifact', family, name)
}

function presentTrashed({ artifact: { id, slug, family, record }, trashed_at: at, until }: Trashed): object {
  return { kind: family.name, id, slug, name: record.name, trashed_at: at, until }
}

/** Hides the users of an artifact from a key that may not read; the sentence still names their kinds. */
function withoutUsers(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.code !== 'in_use') return error
  const users = (error.data.users ?? []) as readonly ArtifactUser[] // what trashArtifact puts there
  const kinds = [...new Set(users.map(({ kind }) => kind))].map((kind) => ({ kind }))
  return new Refusal(error.code, error.message, { users: kinds })
}

function environmentClosed(): Refusal {
  return new Refusal('outside_folders', 'This key is limited to folders, and environments lie in none.')
}

function article(singular: string): string {
  return `${/^[aeiou]/.test(singular) ? 'an' : 'a'} ${singular}`
}

/** Where the users of an artifact are found. */
interface UserPlaces {
  readonly tracesOf: (registry: Registry) => Pick<ProjectTraces, 'naming'>
  readonly evaluationsOf: (registry: Registry) => Pick<ProjectEvaluations, 'list'>
  readonly webhooksOf: (registry: Registry) => Pick<ProjectWebhooks, 'shelf'>
}

/**
 * Lists what needs an artifact, apart from environments: revisions that embed it, traces and evaluations that
 * name it, webhooks that subscribe to its events, and artifacts that share its first revision.
 */
async function usersOf(
  places: UserPlaces,
  registry: Registry,
  artifact: ArtifactView,
): Promise<readonly ArtifactUser[]> {
  return [
    ...(await embedding(registry, artifact)),
    ...webhooks(places, registry, artifact),
    ...(await evaluations(places, registry, artifact)),
    ...(await forks(registry, artifact)),
    ...(await traces(places, registry, artifact)),
  ]
}

async function embedding(registry: Registry, artifact: ArtifactView): Promise<ArtifactUser[]> {
  const { rows } = await queryDependents(registry, { artifact }, { includeArchived: true })
  return rows
    .filter(({ revision, locations }) => locations && revision.artifact.id !== artifact.id)
    .map(({ revision: { id, slug } }) => ({ kind: 'embed', id, slug }))
}

/** Includes archived ones, because they may be restored. */
function webhooks(places: UserPlaces, registry: Registry, artifact: ArtifactView): ArtifactUser[] {
  const all = places.webhooksOf(registry).shelf.list()
  return all.filter((it) => namesArtifact(it, artifact)).map(({ id }) => ({ kind: 'webhook', id }))
}

async function evaluations(
  places: UserPlaces,
  registry: Registry,
  { digits }: ArtifactView,
): Promise<ArtifactUser[]> {
  const all = await places.evaluationsOf(registry).list()
  return all
    .filter(({ plan: { testset, application, evaluators } }) =>
      [testset, application, ...evaluators].some((it) => repositoryDigits(it.artifact_id) === digits),
    )
    .map(({ plan }) => ({ kind: 'evaluation', id: plan.id }))
}

/**
 * Artifacts of the family that share the first revision of one of its variants, as after a clone was pushed
 * to another repository.
 */
async function forks(registry: Registry, artifact: ArtifactView): Promise<ArtifactUser[]> {
  const { history } = artifact.repository
  const roots = new Set<string>()
  const slice = new TimeSlice()
  for (const { head } of artifact.variants) {
    if (head === undefined) continue
    let node = await history.node(head)
    while (node.parent) node = node.parent
    roots.add(node.oid)
  }
  const found: ArtifactUser[] = []
  const others = await registry.index.list(artifact.family)
  await slice.each(others, async ({ id, slug, repository }) => {
    if (id === artifact.id) return
    for (const root of roots)
      if (await repository.objects.has(root)) return void found.push({ kind: 'fork', id, slug })
  })
  return found
}

async function traces(
  places: UserPlaces,
  registry: Registry,
  { digits }: ArtifactView,
): Promise<ArtifactUser[]> {
  const id = await places.tracesOf(registry).naming(digits)
  return id === undefined ? [] : [{ kind: 'trace', id }]
}
