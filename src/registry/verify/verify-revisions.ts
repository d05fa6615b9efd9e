import type { HistoryNode } from '../../git/history.ts'
import type { ObjectDatabase, Oid } from '../../git/objects.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Payload } from '../payload/family.ts'
import { objectUuid } from '../store/ids.ts'
import type { Finding } from './finding.ts'
import { slugProblem } from '../slugs/slug.ts'
import { damage, note } from './finding.ts'

/**
 * Finds problems inside a payload that decodes, as sentences. `isTip` says that a branch or tag names the
 * revision; expensive checks may be limited to these.
 */
export type PayloadCheck = (
  objects: ObjectDatabase,
  payload: Payload,
  revision: { readonly isTip: boolean },
) => Promise<readonly string[]>

/** The number of an artifact's distinct revisions, and the findings. */
export interface VerifiedRevisions {
  readonly count: number
  readonly findings: readonly Finding[]
}

/**
 * Reads every revision of every branch and tag. Each must decode, pass the payload's check, and have a unique
 * id (interface 1.13: 74 bits of the commit).
 */
export async function verifyRevisions(
  artifact: ArtifactView,
  check: PayloadCheck | undefined,
): Promise<VerifiedRevisions> {
  const { repository, digits } = artifact
  const tips = tipsOf(artifact)
  const byId = new Map<string, Oid>()
  const findings: Finding[] = []
  for await (const oid of revisionsOf(artifact, tips)) {
    const id = objectUuid(oid, digits)
    const other = byId.get(id)
    if (other !== undefined) findings.push(damage(`Commits ${other} and ${oid} have the same id ${id}.`))
    byId.set(id, oid)
    const stored = await artifact.revisions.readForList(repository.objects, oid)
    if (stored.damage?.code === 'document_too_large')
      findings.push(note(`Commit ${oid}: ${stored.damage.message}`))
    else if (stored.damage) findings.push(damage(`${stored.damage.message} ${REMEDY}`))
    const { slug } = stored.trailers
    if (slug !== undefined && slugProblem(slug) === undefined && !artifact.tags.has(slug))
      findings.push(
        note(
          `Commit ${oid} says that the slug "${slug}" was chosen for it, and there is no such tag. ${TAG}`,
        ),
      )
    if (!check || !stored.payload) continue
    for (const sentence of await check(repository.objects, stored.payload, { isTip: tips.has(oid) }))
      findings.push(damage(`Commit ${oid}: ${sentence}`))
  }
  return { count: byId.size, findings }
}

/** A message may have been pushed or cherry-picked, so it does not justify setting a tag. */
const TAG = 'If there was one, put it back with git tag.'
const REMEDY = 'Restore it from a mirror, or commit a repaired version with git.'

function tipsOf({ variants, tags }: ArtifactView): ReadonlySet<Oid> {
  return new Set([...variants.flatMap(({ head }) => head ?? []), ...tags.values()])
}

async function* revisionsOf({ repository }: ArtifactView, tips: ReadonlySet<Oid>): AsyncGenerator<Oid> {
  const seen = new Set<Oid>()
  for (const tip of tips) {
    let node: HistoryNode | undefined = await repository.history.node(tip)
    for (; node && !seen.has(node.oid); node = node.parent) {
      seen.add(node.oid)
      yield node.oid
    }
  }
}
