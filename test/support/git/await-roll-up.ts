import { readdirSync } from 'node:fs'

/** Waits while a thread of this process makes one pack of many in the repository, five seconds at most: what it stages is nobody's leftover. */
export function awaitRollUp(folder: string): void {
  for (let tries = 0; tries < 50 && isRolledUp(folder); tries++) Atomics.wait(NEVER, 0, 0, 100)
}

function isRolledUp(folder: string): boolean {
  return readdirSync(`${folder}/objects/pack`).some((name) => name.startsWith('tmp_'))
}

const NEVER = new Int32Array(new SharedArrayBuffer(4))
