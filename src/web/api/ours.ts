/** Ids of revisions that this tab wrote: events about them are no news. */
const ours = new Set<string>()

/** Takes note of the revisions in the answer of a write. */
export function rememberOurs(answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return
  for (const [name, value] of Object.entries(answer as Record<string, unknown>)) {
    if (typeof value !== 'object' || value === null) continue
    const record = value as Readonly<Record<string, unknown>>
    const id = name.endsWith('_revision') ? record['id'] : record['revision_id']
    if (typeof id === 'string') ours.add(id)
  }
}

/** Whether this tab wrote the revision. */
export function isOurs(revisionId: string): boolean {
  return ours.has(revisionId)
}
