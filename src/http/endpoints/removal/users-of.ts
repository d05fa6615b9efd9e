import { queryDependents } from '../../../embeds/dependents.ts'
import type { ProjectEvaluations } from '../../../evaluations/project-evaluations.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ProjectTraces } from '../../../traces/project-traces.ts'
import type { ArtifactView } from '../../../versioning/artifacts/artifact-view.ts'
import { repositoryDigits } from '../../../versioning/ids.ts'
import type { Registry } from '../../../versioning/registry.ts'
import type { ArtifactUser } from '../../../versioning/trash/trash-artifact.ts'
import type { ProjectWebhooks } from '../../../webhooks/project-webhooks.ts'
import { namesArtifact } from '../../../webhooks/matches-filters.ts'

/** Where it is found who needs an artifact. */
export interface UserPlaces {
  readonly tracesOf: (registry: Registry) => Pick<ProjectTraces, 'naming'>
  readonly evaluationsOf: (registry: Registry) => Pick<ProjectEvaluations, 'list'>
  readonly webhooksOf: (registry: Registry) => Pick<ProjectWebhooks, 'shelf'>
}

/**
 * Who needs an artifact to be there, beside the environments that it is or was deployed to: revisions that embed it, traces and evaluations
 * that name it, webhooks that ask for its events, and artifacts whose history began as its.
 */
export async function usersOf(
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

/** Archived ones, too: they may be brought back. */
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

/** Artifacts of the family that hold the first revision of one of its variants, as a push of a clone to another repository makes them. */
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
