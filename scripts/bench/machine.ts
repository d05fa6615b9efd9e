import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** Where and when figures were taken, and of which commit. */
export const machine = z.object({
  date: z.iso.datetime(),
  cores: z.number(),
  processor: z.string(),
  memory_mb: z.number(),
  system: z.string(),
  node: z.string(),
  git: z.string(),
  /** Of this source; ends in `-dirty` where it was changed since, and is absent outside a clone. */
  commit: z.string().optional(),
})

export type Machine = z.infer<typeof machine>

/** This machine, now, and the commit of the tree that is measured: this one if none is named. */
export function thisMachine(tree?: string): Machine {
  return {
    date: new Date().toISOString(),
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memory_mb: Math.round(totalmem() / 1024 ** 2),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    git: git(['version']).replace('git version ', ''),
    commit: commitOf(tree),
  }
}

function commitOf(tree: string | undefined): string | undefined {
  try {
    return git(['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'], tree)
  } catch {
    return undefined
  }
}

function git(args: readonly string[], cwd = fileURLToPath(new URL('.', import.meta.url))): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
