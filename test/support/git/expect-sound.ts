import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { git } from './git-program.ts'

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

/** Waits while a thread of this process makes one pack of many in the repository, five seconds at most: what it stages is nobody's leftover. */
function awaitRollUp(folder: string): void {
  for (let tries = 0; tries < 50 && isRolledUp(folder); tries++) Atomics.wait(NEVER, 0, 0, 100)
}

function isRolledUp(folder: string): boolean {
  return readdirSync(`${folder}/objects/pack`).some((name) => name.startsWith('tmp_'))
}

const NEVER = new Int32Array(new SharedArrayBuffer(4))
