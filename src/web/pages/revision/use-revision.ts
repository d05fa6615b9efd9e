import { useParams } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { artifactKind } from '../../api/artifact-kind.ts'
import type { Archivable } from '../../parts/archive/archivable.ts'
import { useRoute } from '../../api/use-route.ts'

export type Revision = Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']

/** The revision at the address: a variant's head, a version of it, or a revision by its slug. */
export function useRevisionHere() {
  const {
    slug = '',
    variant,
    version,
    revision,
  } = useParams({ strict: false }) as Readonly<Record<string, string | undefined>>
  const body = {
    workflow_ref: { slug },
    ...(variant === undefined ? {} : { workflow_variant_ref: { slug: variant } }),
    ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
    ...(revision === undefined ? {} : { workflow_revision_ref: { slug: revision } }),
  }
  return { slug, variant, version, ...useRoute('POST /workflows/revisions/retrieve', { body }) }
}

/** Where one is on a variant's line. */
export interface NearVersions {
  /** Versions; undefined where there is none. */
  readonly previous: number | undefined
  readonly next: number | undefined
}

/** The versions before and after the revision on its variant. */
export function useNeighbours({
  workflow_slug: slug,
  variant_slug: variant,
  ...revision
}: Revision): NearVersions {
  const { data } = useRoute('POST /workflows/revisions/log', {
    body: { workflow_ref: { slug }, workflow_variant_ref: { slug: variant }, depth: 1 },
  })
  const version = Number(revision.version)
  const head = Number(data?.workflow_revisions[0]?.version ?? version)
  return {
    previous: version > 1 ? version - 1 : undefined,
    next: version < head ? version + 1 : undefined,
  }
}

/** What is archived of where the revision is: its artifact, the variant, or the revision alone; the outermost of them, undefined where none is. */
export function useArchivedHere(revision: Revision): Archivable | undefined {
  const { id, workflow_slug: artifact, variant_slug: variant, deleted_at: archivedAt } = revision
  const parent = useRoute('GET /workflows/{id}', { path: { id: artifact } })
  const found = useRoute('GET /workflows/variants/{id}', { path: { id: revision.variant_id } })
  const version = Number(revision.version)
  const own = { family: 'workflows', artifact, variant, version, word: artifactKind(revision).word } as const
  if (parent.data?.workflow.deleted_at !== undefined)
    return { ...own, level: 'artifact', id: parent.data.workflow.id }
  if (found.data?.workflow_variant.deleted_at !== undefined)
    return { ...own, level: 'variant', id: revision.variant_id }
  return archivedAt === undefined ? undefined : { ...own, level: 'revision', id }
}
