/** Ids in the answers of this tab's writes, each with when it was written: events about them are no news. */
const ours = new Map<string, number>()

/** For how long an event about something that this tab wrote may follow, in milliseconds. */
const RECENT = 30_000

/** Writes whose answer has not come yet: an event may be faster than it. */
let underWay = 0
const waiting: (() => void)[] = []

/** Does a write, and takes note of what it wrote. */
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

/** Calls back once it can be said what is ours: at once, or when the writes that are under way have been answered. */
export function whenSettled(go: () => void): void {
  if (underWay === 0) go()
  else waiting.push(go)
}

/** The ids of a record and of those in it; parents' and authors' are not what was written. */
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
