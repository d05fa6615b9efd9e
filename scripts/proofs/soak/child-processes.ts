import { readdirSync, readFileSync } from 'node:fs'

/** How many processes of this machine descend from `pid`. */
export function childProcesses(pid: number): number {
  const childrenOf = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((it) => /^\d+$/.test(it))) {
    const parent = parentOf(name)
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)])
  }
  const below = (parent: number): number =>
    (childrenOf.get(parent) ?? []).reduce((sum, child) => sum + 1 + below(child), 0)
  return below(pid)
}

/** Undefined for a process that is gone by now. */
function parentOf(pid: string): number | undefined {
  try {
    // The name before it stands in brackets, and may hold anything.
    const after = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1) ?? ''
    return Number(after.trim().split(' ')[1])
  } catch {
    return undefined
  }
}
