/** The ids of what this tab wrote, with the time: events about them are not shown as news. */
const ours = new Map<string, number>()

/** How long after a write its event may arrive, in milliseconds. */
const RECENT = 30_000

/** Writes without an answer yet: their events may arrive first. */
let underWay = 0
const waiting: (() => void)[] = []

/** Runs a write and remembers the ids in its answer. */
export async function writeOurs<T>(write: () => Promise<T>): Promise<T> {
  underWay++
  try {
    const answer = await write()
    remember(answer, 0)
    return answer
  } finally {
    underWay--
    if (underWay === 0) for (const go of waiting.splice(0)) go()
  }
}

/** Calls back as soon as no write is under way, so that `isOurs` can tell. */
export function whenSettled(go: () => void): void {
  if (underWay === 0) go()
  else waiting.push(go)
}

/** The ids of a record and of those inside it, without parents and authors. */
function remember(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > 2) return
  for (const [name, member] of Object.entries(value as Readonly<Record<string, unknown>>)) {
    if (typeof member === 'string' && (name === 'id' || name === 'revision_id')) ours.set(member, Date.now())
    else if (name !== 'data' && name !== 'meta') remember(member, depth + 1)
  }
}

/** Whether this tab wrote the revision. */
export function isOurs(revisionId: string): boolean {
  return ours.has(revisionId)
}

/** Whether this tab wrote the thing a moment ago. */
export function isRecentlyOurs(id: string): boolean {
  return Date.now() - (ours.get(id) ?? -Infinity) < RECENT
}
