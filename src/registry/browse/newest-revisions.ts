import type { Registry } from '../store/registry.ts'
import { queryRevisions } from '../revisions/query-revisions.ts'
import type { Revision } from '../revisions/revision.ts'

/** The newest revisions of a project across all families, at most `most`, as lists show them. */
export async function newestRevisions(registry: Registry, most: number): Promise<readonly Revision[]> {
  const found: Revision[] = []
  for (const family of registry.families) {
    const query = { filter: {}, roles: {}, windowing: { limit: most } }
    for (const revision of (await queryRevisions(registry, family, query)).rows) found.push(revision)
  }
  // The sort is stable: within one second, a family's revisions keep their list order.
  return found.sort((a, b) => secondsOf(b) - secondsOf(a)).slice(0, most)
}

function secondsOf({ stored }: Revision): number {
  return stored.commit.committer.seconds
}
