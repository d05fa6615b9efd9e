import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { temporaryFolder } from '../support/git/git-program.ts'

/** A copy of what is on the disk for certain. */
export function snapshot(folder: string): string {
  const copy = temporaryFolder()
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Puts everything back to `before` but the journals, which are those of an earlier start of the machine now. */
export function powerCut(folder: string, before: string): void {
  rmSync(`${folder}/default`, { recursive: true })
  cpSync(`${before}/default`, `${folder}/default`, { recursive: true })
  ageJournals(folder)
}

/** Renames the journals as if a process that is dead now had written them. */
export function ageJournals(folder: string, { boot = 'other' }: { boot?: 'same' | 'other' } = {}): void {
  for (const path of journals(folder)) {
    const [host, id, ...rest] = path.slice(path.lastIndexOf('/') + 1).split('.')
    renameSync(
      path,
      `${folder}/.journal/${host}.${boot === 'same' ? id : 'feedfacecafe'}.999999999.1.${rest.at(-1)}`,
    )
  }
}

/** The journals of a store. */
export function journals(folder: string): string[] {
  return readdirSync(`${folder}/.journal`).map((name) => `${folder}/.journal/${name}`)
}
