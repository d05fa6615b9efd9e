import { liveFolder } from '../trash/folder-move.ts'
import type { LogEntry } from './shared-log.ts'

/**
 * The entries in an order in which they may be done: those of one repository by its version. A look sees with an entry
 * all that went before it, so nothing is missing in between.
 */
export function inOrder(entries: readonly LogEntry[]): LogEntry[] {
  const before = new Map<LogEntry, number>()
  const after = new Map<LogEntry, LogEntry[]>()
  for (const steps of stepsOf(entries).values()) {
    steps.sort((a, b) => a.version - b.version)
    for (const [index, { entry }] of steps.entries()) {
      const next = steps[index + 1]?.entry
      if (!next || next === entry) continue
      after.set(entry, [...(after.get(entry) ?? []), next])
      before.set(next, (before.get(next) ?? 0) + 1)
    }
  }
  const ordered = entries.filter((entry) => !before.has(entry))
  // Grows while it is gone through.
  for (const entry of ordered) {
    for (const next of after.get(entry) ?? []) {
      const left = (before.get(next) ?? 0) - 1
      before.set(next, left)
      if (left === 0) ordered.push(next)
    }
  }
  if (ordered.length < entries.length) throw new Error('entries of the log wait for each other')
  return ordered
}

/** What entries do to one repository. */
function stepsOf(
  entries: readonly LogEntry[],
): Map<string, { readonly entry: LogEntry; readonly version: number }[]> {
  const all = new Map<string, { readonly entry: LogEntry; readonly version: number }[]>()
  const add = (repository: string, entry: LogEntry, version: number): void => {
    const steps = all.get(repository)
    if (steps) steps.push({ entry, version })
    else all.set(repository, [{ entry, version }])
  }
  for (const entry of entries)
    for (const [repository, version] of touchedBy(entry)) add(repository, entry, version)
  return all
}

/** The repositories that an entry changes, and the versions they come to by it. */
function* touchedBy({ writes, moved, purged }: LogEntry): Generator<readonly [string, number]> {
  for (const { repository, version } of writes) yield [repository, version]
  if (moved) yield [liveFolder(moved), moved.version]
  if (purged) yield [purged.repository, purged.version]
}

/** The repositories that an entry changes. */
export function repositoriesOf({ writes, moved, purged }: LogEntry): string[] {
  return [
    ...writes.map(({ repository }) => repository),
    ...(moved ? [liveFolder(moved)] : []),
    ...(purged ? [purged.repository] : []),
  ]
}
