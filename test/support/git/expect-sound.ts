import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { git } from './git-program.ts'
import { awaitRollUp } from './await-roll-up.ts'

/** Locks, their owner files, and what was staged and not published. */
export function leftovers(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true }).map(String)
  return paths.filter((path) => /\.lock$|\.keep$|^locks\/.|\/tmp_/.test(path))
}

/** git finds nothing wrong, and nothing is left lying around. */
export function expectSound(folder: string): void {
  expect(git(folder, ['fsck', '--strict', '--no-dangling'])).to.equal('')
  awaitRollUp(folder)
  expect(leftovers(folder)).to.deep.equal([])
}
